-- A table of facts with three of dimensions: who flies where, when, how late. :size and :seed say which.
CREATE TABLE airport (code TEXT PRIMARY KEY, country TEXT, height INTEGER) WITHOUT ROWID;
CREATE TABLE plane (id INTEGER PRIMARY KEY, model TEXT, seats INTEGER);
CREATE TABLE flight (id INTEGER PRIMARY KEY, start TEXT, goal TEXT, plane INTEGER, at INTEGER, late INTEGER, sold INTEGER);
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 119)
	INSERT INTO airport SELECT char(65 + i % 26, 65 + i * 7 % 26, 65 + i / 26), 'country ' || (i % 17), i * 37 % 2400 FROM n;
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
	INSERT INTO plane SELECT i, 'model ' || (i % 9), 60 + i % 9 * 35 FROM n;
WITH RECURSIVE r(i, x) AS (VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 22695477 + 1) % 4294967296 FROM r WHERE i < :size)
INSERT INTO flight SELECT i, char(65 + (x >> 10) % 120 % 26, 65 + (x >> 10) % 120 * 7 % 26, 65 + (x >> 10) % 120 / 26),
	char(65 + (x >> 16) % 120 % 26, 65 + (x >> 16) % 120 * 7 % 26, 65 + (x >> 16) % 120 / 26),
	1 + (x >> 12) % 60, 1700000000 + i * 97, max(0, (x >> 14) % 240 - 150), (x >> 18) % 250 FROM r;
CREATE INDEX starts ON flight (start, at);
