-- Ranges, joins, groups, subqueries, windows, compounds.
CREATE TEMP VIEW turnover AS
	SELECT o.id, o.customer, o.day, o.state, sum(i.pieces * p.price) AS worth
	FROM orders o JOIN item i ON i.orders = o.id JOIN product p ON p.id = i.product GROUP BY o.id;
SELECT count(*), round(sum(worth), 2), max(day) FROM turnover;
SELECT state, count(*), round(avg(worth), 2) FROM turnover GROUP BY state HAVING count(*) > 10 ORDER BY 2 DESC;
SELECT c.city, count(DISTINCT c.id) AS n, round(total(t.worth), 1) FROM customer c LEFT JOIN turnover t ON t.customer = c.id
	GROUP BY c.city ORDER BY n DESC, c.city LIMIT 6;
SELECT count(*) FROM customer WHERE since BETWEEN '2016-03-01' AND '2018-08-31' AND credit > 250;
SELECT count(*) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.orders = o.id AND i.pieces > 4);
SELECT count(*) FROM customer WHERE id NOT IN (SELECT customer FROM orders WHERE state = 'open');
SELECT name, price FROM product WHERE price > 80 ORDER BY price DESC, id LIMIT 5;
SELECT kind, round(avg(price), 2), group_concat(id % 10, '') FROM (SELECT * FROM product WHERE id < 200) GROUP BY kind ORDER BY kind;
SELECT month, n, sum(n) OVER (ORDER BY month), round(avg(n) OVER (ORDER BY month ROWS 2 PRECEDING), 2), lag(n) OVER (ORDER BY month)
	FROM (SELECT substr(day, 1, 7) AS month, count(*) AS n FROM orders GROUP BY 1) ORDER BY month LIMIT 6;
SELECT count(*), sum(place) FROM (SELECT rank() OVER (PARTITION BY kind ORDER BY price DESC) AS place,
	row_number() OVER (PARTITION BY kind ORDER BY id) AS number FROM product) WHERE place <= 10;
SELECT count(*) FROM (SELECT customer FROM orders WHERE state = 'open' INTERSECT SELECT customer FROM orders WHERE state = 'paid'
	EXCEPT SELECT id FROM customer WHERE city IS NULL UNION SELECT -1);
SELECT count(*) FROM orders a JOIN orders b ON a.customer = b.customer AND a.day < b.day AND a.state = 'open' AND b.state = 'sent';
SELECT round(sum(credit), 1) FROM customer WHERE city = 'PARIS' OR city LIKE 'town 1%' OR name GLOB 'E*[0-4]';
WITH best(id, worth) AS MATERIALIZED (SELECT customer, sum(worth) FROM turnover GROUP BY customer ORDER BY 2 DESC LIMIT 20)
	SELECT count(*), round(sum(best.worth), 2) FROM best JOIN customer USING (id) WHERE credit < 900;
WITH RECURSIVE calendar(day) AS (VALUES ('2023-01-01') UNION ALL SELECT date(day, '+1 day') FROM calendar WHERE day < '2023-12-31')
	SELECT count(*), sum(n = 0), max(n) FROM (SELECT day, (SELECT count(*) FROM orders o WHERE o.day = calendar.day AND o.id % 7 = 0) AS n
		FROM calendar WHERE strftime('%w', day) IN ('0', '6'));
SELECT upper(substr(name, 1, 4)), length(name), instr(name, ' '), replace(name, ' ', '_'), trim(name || '  '), quote(city), typeof(credit),
	abs(-credit), coalesce(city, 'none'), nullif(1, 1), hex(since), unicode(name), printf('%08.3f|%-6d|%x', credit, id, id)
	FROM customer ORDER BY id LIMIT 3;
SELECT sum(julianday(day) - julianday('2023-01-01')), min(strftime('%Y/%m/%d', day)), count(DISTINCT strftime('%W', day)) FROM orders;
