-- Version 6: a topic is stored with its path.
CREATE TABLE path (n INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
INSERT OR IGNORE INTO path
	WITH RECURSIVE p (n, path) AS (
		SELECT n, name FROM topic WHERE parent = 0
		UNION ALL SELECT t.n, p.path || ' > ' || t.name FROM topic t JOIN p ON t.parent = p.n)
	SELECT n, path FROM p;
DROP TABLE topic;
ALTER TABLE path RENAME TO topic;
UPDATE meta SET version = 6;
