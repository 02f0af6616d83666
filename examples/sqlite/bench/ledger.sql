-- Prints a script of a bank's day: accounts, then many small transfers, each a transaction of its own.
.mode list
SELECT 'CREATE TABLE account (number TEXT PRIMARY KEY, owner TEXT, cents INTEGER NOT NULL CHECK (cents >= 0), moves INTEGER DEFAULT 0);
CREATE TABLE transfer (id INTEGER PRIMARY KEY, debit TEXT, credit TEXT, cents INTEGER, at TEXT);
CREATE INDEX by_debit ON transfer (debit, at);
CREATE TRIGGER moves AFTER INSERT ON transfer BEGIN
	UPDATE account SET cents = cents - new.cents, moves = moves + 1 WHERE number = new.debit;
	UPDATE account SET cents = cents + new.cents, moves = moves + 1 WHERE number = new.credit;
END;';
WITH RECURSIVE a(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM a WHERE i < 399)
SELECT printf('INSERT INTO account (number, owner, cents) VALUES (''DE%08d'', ''owner %d'', %d);', i * 7919, i, 100000 + i * 31) FROM a;
WITH RECURSIVE r(i, x) AS (VALUES (1, :seed) UNION ALL SELECT i + 1, (x * 22695477 + 1) % 4294967296 FROM r WHERE i < :size)
SELECT printf('BEGIN IMMEDIATE; INSERT INTO transfer (debit, credit, cents, at) SELECT ''DE%08d'', ''DE%08d'', %d, ''12:%02d:%02d'' WHERE (SELECT cents FROM account WHERE number = ''DE%08d'') > %d; COMMIT;',
	(x >> 9) % 400 * 7919, (x >> 17) % 400 * 7919, (x >> 8) % 20000, i / 100 % 60, i % 60, (x >> 9) % 400 * 7919, (x >> 8) % 20000)
	|| CASE i % 4 WHEN 0 THEN printf(' SELECT owner, cents FROM account WHERE number = ''DE%08d'';', (x >> 17) % 400 * 7919)
		WHEN 1 THEN printf(' SELECT id, credit, cents FROM transfer WHERE debit = ''DE%08d'' ORDER BY at DESC LIMIT 3;', (x >> 9) % 400 * 7919)
		ELSE '' END
FROM r;
SELECT 'SELECT sum(cents), max(moves), (SELECT count(*) FROM transfer) FROM account;';
