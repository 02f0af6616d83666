-- Letters in a table for full text search: put in, looked for, ranked, and some thrown away.
CREATE VIRTUAL TABLE mail USING fts5(subject, sender UNINDEXED, body, prefix = '2 3');
WITH RECURSIVE r(i, x) AS (VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 22695477 + 1) % 4294967296 FROM r WHERE i < :size),
	w(n, a, b) AS (VALUES (0, 'meeting', 'please find the minutes attached'), (1, 'invoice', 'the amount is due within thirty days'),
		(2, 'holiday', 'we are closed until next week'), (3, 'server', 'the disk of the database is nearly full'),
		(4, 'welcome', 'thanks for joining our little group'), (5, 'release', 'version two fixes the crash on startup'))
INSERT INTO mail SELECT printf('%s %s %d', p.a, q.a, i % 100), printf('user%d@example.org', (x >> 9) % 50),
	printf('Dear user%d, %s. By the way: %s; case%x %s.', (x >> 8) % 90, q.b, p.b, (x >> 16) % 4000, q.a)
FROM r JOIN w p ON p.n = (x >> 10) % 6 JOIN w q ON q.n = (x >> 20) % 6;
SELECT count(*) FROM mail WHERE mail MATCH 'invoice AND (disk OR crash)';
SELECT subject, round(rank, 3) FROM mail WHERE mail MATCH 'subject : release OR startup' ORDER BY rank, rowid LIMIT 3;
SELECT count(*), max(rowid) FROM mail WHERE mail MATCH 'body : "nearly full" NOT thirty';
SELECT sum(length(s)) FROM (SELECT snippet(mail, 2, '*', '*', '..', 5) AS s FROM mail WHERE mail MATCH 'case1* OR group' LIMIT 2000);
SELECT count(*) FROM mail WHERE mail MATCH 'NEAR(minutes closed, 12) OR we*';
DELETE FROM mail WHERE rowid % 9 = 0 AND sender > 'user3';
INSERT INTO mail (mail) VALUES ('optimize');
SELECT count(*) FROM mail WHERE mail MATCH 'disk';
