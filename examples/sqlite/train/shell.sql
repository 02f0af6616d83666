-- The shell's own: ways to print, the schema, a dump.
.headers on
.mode box
SELECT id, name, price FROM product ORDER BY id LIMIT 20;
.mode markdown
SELECT kind, count(*) FROM product GROUP BY kind ORDER BY kind;
.mode csv
SELECT * FROM customer WHERE id < 300;
.mode json
SELECT id, name, details FROM product WHERE id < 100;
.mode insert orders
SELECT * FROM orders WHERE id < 300;
.mode quote
SELECT id, city, credit FROM customer WHERE id < 200;
.headers off
.mode list
.tables
.schema orders
.indexes
.dump product
