-- Questions to the flights.
SELECT s.country, g.country, count(*) AS n, round(avg(late), 2) FROM flight f JOIN airport s ON s.code = f.start
	JOIN airport g ON g.code = f.goal GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 5;
SELECT model, count(*), sum(min(sold, seats)), max(sold - seats) FROM flight JOIN plane ON plane.id = flight.plane
	GROUP BY model ORDER BY 3 DESC LIMIT 4;
SELECT strftime('%H', at, 'unixepoch') AS hour, count(*), sum(late > 15) FROM flight WHERE late > 0 GROUP BY hour ORDER BY 3 DESC, 1 LIMIT 4;
SELECT count(*), sum(a.sold) FROM airport JOIN flight a ON a.start = code
	AND a.at BETWEEN 1700100000 AND 1700400000 WHERE height > 1200 AND country IN ('country 3', 'country 5', 'country 8');
SELECT start, late, p FROM (SELECT start, late, percent_rank() OVER (PARTITION BY start ORDER BY late, id) AS p,
	ntile(10) OVER (PARTITION BY start ORDER BY sold, id) AS tenth FROM flight) WHERE tenth = 10 AND late > 80 ORDER BY p DESC, start LIMIT 5;
SELECT count(*) FROM (SELECT plane, goal, lead(start) OVER (PARTITION BY plane ORDER BY at) AS next FROM flight) WHERE goal <> next;
SELECT count(DISTINCT start || goal), count(DISTINCT CASE WHEN late THEN plane END), total(sold) FROM flight;
