# Profiles in text form: a count is 0.1 % of each.
cat >old.txt <<'T'
:ir
alike
1
1
500

colder
1
1
200

dropped
1
1
100

unrun
1
1
0

changed
1
2
100
100

T
cat >new.txt <<'T'
:ir
alike
1
1
500

colder
1
1
190

extra
1
1
200

unrun
1
1
10

changed
2
1
100

T
whet profile diff old.txt new.txt
echo
whet profile diff --threshold 5 old.txt new.txt | grep -E '^(colder|alike)'
whet profile diff --json old.txt new.txt
