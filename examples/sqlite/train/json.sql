-- Documents in a column: paths, arrays, changes, and documents made of rows.
SELECT sum(json_extract(details, '$.weight')), count(DISTINCT details ->> '$.made.by'), max(details -> '$.made') FROM product;
SELECT t.value, count(*) FROM product, json_each(details, '$.tags') t GROUP BY 1 ORDER BY 1;
SELECT sum(json_array_length(details, '$.tags')), sum(json_valid(details)), min(json_type(details, '$.made')) FROM product;
SELECT length(json_group_array(json_object('name', name, 'year', details ->> '$.made.year'))) FROM product;
SELECT length(group_concat(json_set(json_remove(details, '$.tags[0]'), '$.made.year', 2000 + id, '$.new', json('[1,2.5,null]')))) FROM product;
SELECT type, count(*), sum(length(fullkey)) FROM product, json_tree(details) GROUP BY type ORDER BY type;
SELECT sum(length(json_patch(details, '{"made":{"by":null},"more":true}'))) FROM product;
SELECT length(json_group_object(name, json(details))) FROM product WHERE kind = 'books' AND details ->> 'weight' > 100;
SELECT json_quote('a"b' || char(10)), json('  {"x" : [ 1 , -2e3, "\u00e4" ] }');
