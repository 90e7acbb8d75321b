-- Version 9: the texts of a pair are indexed in the commit that stores the pair, not afterwards.
DELETE FROM words WHERE rowid IN (SELECT seq FROM unindexed);
INSERT INTO words (rowid, user, answer) SELECT seq, fold_text(CAST(user AS BLOB)), fold_text(CAST(answer AS BLOB)) FROM body WHERE seq IN (SELECT seq FROM unindexed);
DROP TABLE unindexed;
UPDATE meta SET version = 9;
