-- A shop: customers, products, orders and their items, notes to search in. :size and :seed say which.
PRAGMA synchronous = OFF;
PRAGMA foreign_keys = ON;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT COLLATE NOCASE, since TEXT, credit REAL);
CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT UNIQUE, kind TEXT, price REAL CHECK (price >= 0), details TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer, day TEXT, state TEXT);
CREATE TABLE item (orders INTEGER REFERENCES orders ON DELETE CASCADE, product INTEGER REFERENCES product,
	pieces INTEGER DEFAULT 1, PRIMARY KEY (orders, product)) WITHOUT ROWID;
CREATE TABLE history (at INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT);
CREATE VIRTUAL TABLE note USING fts5(title, body, tokenize = 'porter unicode61');
CREATE TRIGGER state_changes AFTER UPDATE OF state ON orders WHEN old.state <> new.state BEGIN
	INSERT INTO history (what) VALUES (new.id || ': ' || old.state || ' -> ' || new.state);
END;

BEGIN;
WITH RECURSIVE r(i, x) AS (
	VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size)
INSERT INTO customer
SELECT i, printf('%s %x', substr('Ada  Bob  Cleo Dora Emil Finn ', 1 + 5 * ((x >> 8) % 6), 4), x),
	CASE (x >> 10) % 7 WHEN 0 THEN 'Berlin' WHEN 1 THEN 'paris' WHEN 2 THEN 'Rome' WHEN 3 THEN 'Oslo' WHEN 4 THEN NULL
		ELSE printf('town %d', (x >> 9) % 40) END,
	date('2015-01-01', printf('+%d days', (x >> 8) % 3000)), ((x >> 7) % 100000) / 100.0
FROM r;
WITH RECURSIVE r(i, x) AS (
	VALUES (1, :seed + 1) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size / 4)
INSERT INTO product
SELECT i, 'product ' || i, substr('toolsbooksfoodstoys?', 1 + 5 * ((x >> 9) % 4), 5), ((x >> 8) % 9000) / 100.0,
	json_object('weight', (x >> 8) % 500, 'tags', json_array(printf('t%d', (x >> 9) % 9), printf('t%d', (x >> 11) % 9)),
		'made', json_object('by', printf('maker %d', (x >> 10) % 20), 'year', 1990 + (x >> 12) % 30))
FROM r;
WITH RECURSIVE r(i, x) AS (
	VALUES (1, :seed + 2) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size * 3)
INSERT INTO orders
SELECT i, 1 + (x >> 8) % :size, date('2023-01-01', printf('+%d days', (x >> 9) % 365)),
	CASE (x >> 12) % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'sent' ELSE 'paid' END
FROM r;
WITH RECURSIVE r(i, x) AS (
	VALUES (1, :seed + 3) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size * 6)
INSERT OR IGNORE INTO item
SELECT 1 + (x >> 7) % (:size * 3), 1 + (x >> 11) % (:size / 4), 1 + (x >> 9) % 5 FROM r;
WITH RECURSIVE r(i, x) AS (
	VALUES (1, :seed + 4) UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM r WHERE i < :size),
	word(n, w) AS (VALUES (0, 'delivered late'), (1, 'the parcel was broken'), (2, 'very good quality'), (3, 'asks for money back'),
		(4, 'called on monday'), (5, 'wants another colour'), (6, 'no answer yet'), (7, 'paid by cheque'))
INSERT INTO note
SELECT 'order ' || i, a.w || ', ' || b.w || '; ' || c.w || printf(' (%d)', x % 997)
FROM r JOIN word a ON a.n = (x >> 8) % 8 JOIN word b ON b.n = (x >> 12) % 8 JOIN word c ON c.n = (x >> 16) % 8;
COMMIT;
CREATE INDEX order_of ON orders (customer, day);
CREATE INDEX product_in ON item (product);
CREATE INDEX dear ON product (price) WHERE price > 50;
ANALYZE;
SELECT (SELECT count(*) FROM customer), (SELECT count(*) FROM product), (SELECT count(*) FROM orders), (SELECT sum(pieces) FROM item);
