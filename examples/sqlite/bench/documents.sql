-- Visits of a web site as JSON: put in, indexed by an expression, taken apart, changed.
CREATE TABLE visit (id INTEGER PRIMARY KEY, body TEXT CHECK (json_valid(body)));
CREATE INDEX visit_of ON visit (json_extract(body, '$.user.id'));
WITH RECURSIVE r(i, x) AS (VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 22695477 + 1) % 4294967296 FROM r WHERE i < :size)
INSERT INTO visit SELECT i, json_object('url', printf('/page/%d?q=%x', (x >> 9) % 300, x), 'took', ((x >> 8) % 4000) / 8.0,
	'user', json_object('id', (x >> 12) % 500, 'agent', iif((x >> 15) % 3, 'browser "A"', 'robot'), 'languages', json_array('de', 'en', (x >> 13) % 5)),
	'clicks', json(printf('[{"x":%d,"y":%d},{"x":%d,"y":null}]', x % 800, (x >> 4) % 600, (x >> 6) % 800))) FROM r;
SELECT count(*), sum(json_extract(body, '$.took')) FROM visit WHERE json_extract(body, '$.user.id') BETWEEN 100 AND 180;
SELECT body ->> '$.user.agent', count(*), round(avg(body ->> 'took'), 3) FROM visit GROUP BY 1 ORDER BY 1;
SELECT c.value ->> 'x' AS x, count(*) FROM visit, json_each(body, '$.clicks') c WHERE c.value ->> 'y' IS NULL GROUP BY x ORDER BY 2 DESC, 1 LIMIT 4;
UPDATE visit SET body = json_insert(json_replace(body, '$.took', 0), '$.user.languages[#]', 'fr', '$.seen', json('true')) WHERE id % 4 = 0;
SELECT atom, count(*) FROM visit, json_tree(body, '$.user') WHERE type = 'text' GROUP BY atom ORDER BY 2 DESC, 1;
SELECT sum(length(body)), sum(json_array_length(body, '$.user.languages')) FROM visit;
