cat >a.txt <<'T'
:ir
f
1
2
10
40
1
0
1
2
g:30
h:10

g
2
1
50

old
3
1
0

T
cat >b.txt <<'T'
:ir
f
1
2
80
20
1
0
1
2
h:5
g:5

g
22
1
40

h
4
1
60

T
whet profile overlap a.txt b.txt
whet profile overlap -v a.txt b.txt
echo
whet profile overlap -f a.txt b.txt
whet profile overlap -f --json a.txt b.txt
