-- Prints a script of many small statements, each of which has to be compiled: looked up, put in, taken out.
.mode list
SELECT 'PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;';
WITH RECURSIVE r(i, x) AS (VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size)
SELECT CASE i % 6
	WHEN 0 THEN printf('SELECT name, credit FROM customer WHERE id = %d;', 1 + (x >> 8) % 3000)
	WHEN 1 THEN printf('SELECT count(*), max(day) FROM orders WHERE customer = %d AND day > ''2023-0%d-01'';', 1 + (x >> 8) % 3000, 1 + (x >> 9) % 9)
	WHEN 2 THEN printf('INSERT INTO orders (id, customer, day) VALUES (%d, %d, ''2024-01-01'') ON CONFLICT DO NOTHING;', 20000 + i, 1 + (x >> 8) % 3000)
	WHEN 3 THEN printf('UPDATE customer SET credit = credit - %d.5 WHERE id = %d AND credit > 100;', x % 9, 1 + (x >> 8) % 3000)
	WHEN 4 THEN printf('BEGIN; DELETE FROM orders WHERE id = %d; %s;', 20000 + i - 20, CASE WHEN x & 4096 THEN 'COMMIT' ELSE 'ROLLBACK' END)
	ELSE printf('SELECT p.name, i.pieces FROM item i JOIN product p ON p.id = i.product WHERE i.orders = %d ORDER BY p.price;', 1 + (x >> 8) % 9000)
END FROM r;
