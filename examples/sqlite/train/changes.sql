-- Updates, deletions, upserts, savepoints, triggers, altered tables; then the file is packed and checked.
PRAGMA synchronous = OFF;
PRAGMA foreign_keys = ON;
BEGIN;
UPDATE orders SET state = 'sent' WHERE state = 'paid' AND id % 3 = 0;
UPDATE product SET price = round(price * 1.07, 2) WHERE kind <> 'tools';
UPDATE customer SET credit = credit + s.n FROM (SELECT customer, count(*) AS n FROM orders GROUP BY customer) s WHERE s.customer = customer.id;
DELETE FROM orders WHERE id % 11 = 0;
SAVEPOINT half;
DELETE FROM item WHERE pieces = 2;
SELECT changes() > 0;
ROLLBACK TO half;
RELEASE half;
INSERT INTO item (orders, product) SELECT orders, product FROM item WHERE pieces > 3 AND true
	ON CONFLICT (orders, product) DO UPDATE SET pieces = pieces + excluded.pieces;
REPLACE INTO product (id, name, kind, price) SELECT id, name, kind, price + 1 FROM product
	WHERE id NOT IN (SELECT product FROM item) RETURNING id % 2;
COMMIT;
ALTER TABLE customer ADD COLUMN mail TEXT DEFAULT 'none';
ALTER TABLE customer RENAME COLUMN credit TO balance;
CREATE TABLE copy AS SELECT * FROM customer WHERE id % 2;
DROP TABLE copy;
INSERT INTO note (note) VALUES ('optimize');
REINDEX orders;
SELECT count(*), max(at) FROM history;
SELECT count(*), sum(pieces) FROM item;
SELECT round(sum(balance), 2), min(mail) FROM customer;
VACUUM;
PRAGMA integrity_check;
