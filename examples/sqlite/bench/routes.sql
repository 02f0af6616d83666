-- A street map as a graph: what is reached in how many steps, and the shortest way through a grid with weights.
CREATE TABLE road (a INTEGER, b INTEGER, metres INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
WITH RECURSIVE r(i, x) AS (VALUES (0, :seed) UNION ALL SELECT i + 1, (x * 22695477 + 1) % 4294967296 FROM r WHERE i < :size * :size - 1)
INSERT INTO road SELECT i, i + d, 10 + ((x >> 9) + d * 13) % 90 FROM r, (SELECT 1 AS d UNION ALL SELECT :size)
	WHERE (d > 1 OR i % :size < :size - 1) AND i + d < :size * :size;
INSERT INTO road SELECT b, a, metres + 5 FROM road WHERE a % 3;
WITH RECURSIVE reached(node, steps) AS (VALUES (0, 0) UNION SELECT b, steps + 1 FROM reached JOIN road ON a = node WHERE steps < 90)
	SELECT count(*), count(DISTINCT node), max(steps) FROM reached;
WITH RECURSIVE way(node, metres) AS (VALUES (0, 0)
	UNION SELECT b, way.metres + road.metres FROM way JOIN road ON a = node WHERE b > a AND way.metres < 500 ORDER BY 2)
	SELECT count(*), max(node) FROM way;
WITH RECURSIVE best(node, sum, last) AS (SELECT 0, 0, 0 UNION ALL
	SELECT min(node + 1, :size * :size - 1), sum + (SELECT min(metres) FROM road WHERE b = a + 1 AND a = node), node FROM best WHERE node % :size < :size - 2)
	SELECT max(node), max(sum) FROM best;
SELECT a % 10, count(*), sum(metres), (SELECT count(*) FROM road r WHERE r.a = road.b) FROM road GROUP BY 1 ORDER BY 3 DESC LIMIT 4;
