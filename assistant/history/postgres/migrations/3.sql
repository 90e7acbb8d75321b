-- Version 3: the pictures of pairs, each once for an author. They are granted
-- to the roles that may use pairs. Where the history is private, they are too: see
-- private.sql.
CREATE TABLE picture (
	author bigint NOT NULL,
	hash   text COLLATE "C" NOT NULL,   -- SHA-256 of data, in hexadecimal
	data   bytea NOT NULL,
	PRIMARY KEY (author, hash)
);
CREATE TABLE pair_picture (
	seq    bigint NOT NULL REFERENCES pair ON DELETE CASCADE,
	author bigint NOT NULL,
	hash   text COLLATE "C" NOT NULL,
	PRIMARY KEY (seq, hash)
);
CREATE INDEX pair_picture_hash ON pair_picture (hash);
DO $do$ DECLARE may record; BEGIN
	FOR may IN SELECT privilege_type AS do, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
		FROM pg_class, aclexplode(relacl) WHERE oid = 'pair'::regclass
	LOOP
		EXECUTE format('GRANT %s ON picture, pair_picture TO %s', may.do, may.who);
	END LOOP;
	IF (SELECT relrowsecurity FROM pg_class WHERE oid = 'pair'::regclass) THEN
		CREATE POLICY private ON picture USING (author = (SELECT n FROM author WHERE name = session_user));
		CREATE POLICY private ON pair_picture USING (author = (SELECT n FROM author WHERE name = session_user));
		ALTER TABLE picture ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
		ALTER TABLE pair_picture ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	END IF;
END $do$;
