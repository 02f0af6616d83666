-- Full text: words, phrases, prefixes, nearness, ranks, columns; and a table of trigrams.
SELECT count(*) FROM note WHERE note MATCH 'deliveries OR parcels';
SELECT count(*) FROM note WHERE note MATCH '"money back" AND colour NOT cheque';
SELECT count(*), min(rowid) FROM note WHERE note MATCH '(body : qual*) AND NEAR(parcel monday, 6)';
SELECT count(*) FROM note WHERE note MATCH 'NEAR(late broken, 5)';
SELECT title, round(bm25(note, 2.0, 1.0), 3) FROM note WHERE note MATCH 'answer monday' ORDER BY rank, rowid LIMIT 5;
SELECT snippet(note, 1, '[', ']', '...', 6), highlight(note, 1, '<', '>') FROM note WHERE note MATCH 'colours' ORDER BY rowid LIMIT 3;
SELECT count(*), sum(length(h)) FROM (SELECT highlight(note, 1, '<', '>') AS h FROM note WHERE note MATCH 'goo* call*' LIMIT 500);
CREATE VIRTUAL TABLE temp.part USING fts5(t, tokenize = trigram);
INSERT INTO part SELECT body FROM note WHERE rowid % 5 = 0;
SELECT count(*) FROM part WHERE t LIKE '%oken%' OR t GLOB '*uali*';
CREATE VIRTUAL TABLE temp.word USING fts5vocab(main, note, row);
SELECT term, doc, cnt FROM word ORDER BY cnt DESC, term LIMIT 5;
