-- Lines of a file, imported, cut into pieces, counted and sorted.
CREATE TABLE line (text TEXT);
.import /dev/stdin line
SELECT count(*), sum(length(text)), min(text), max(text) FROM line;
CREATE TABLE piece AS SELECT rowid AS line, substr(text, 1, 3) AS a, substr(text, 30, 2) AS b, instr(text, 'ab') AS c, upper(substr(text, -5)) AS d FROM line;
CREATE INDEX piece_a ON piece (a, b);
SELECT a, count(*) FROM piece GROUP BY a ORDER BY 2 DESC, a LIMIT 4;
SELECT b, count(*), sum(c > 0) FROM piece GROUP BY b ORDER BY 3 DESC, 2 DESC, b LIMIT 4;
SELECT count(*) FROM line WHERE text LIKE '%xy%z%' OR text GLOB '*[qx]z?a*';
SELECT count(*) FROM piece p JOIN piece q ON p.a = q.a AND p.b < q.b;
SELECT count(DISTINCT d), sum(unicode(d)), max(replace(d, 'A', '--')) FROM piece WHERE a BETWEEN 'f' AND 'p';
SELECT sum(length(hex(text))), sum(length(printf('%-90s|%.10s', text, text))), sum(text < lower(text) || 'a') FROM line;
