-- Version 4: who changed what in the windows that programs serve. Rights and, where the
-- history is private, the policy are as in version 3.
CREATE TABLE change (
	n         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- grows in the order of commits
	author    text NOT NULL DEFAULT session_user, -- the role that added it
	host      text NOT NULL,
	path      text NOT NULL,   -- of the window's file on host
	seq       bigint NOT NULL, -- in the journal of the window
	sec       bigint NOT NULL,
	nsec      integer NOT NULL,
	"user"    text NOT NULL,
	session   text NOT NULL,
	kind      text NOT NULL,
	what      text NOT NULL,
	changed   json NOT NULL,   -- the values that differ: [{"path", "before", "after"}]
	more      integer NOT NULL, -- how many are left out
	-- Without host: a container has another name after each start.
	UNIQUE (path, seq, sec, nsec)
);
CREATE INDEX change_time ON change (sec, nsec);
DO $do$ DECLARE may record; BEGIN
	FOR may IN SELECT privilege_type AS do, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS who
		FROM pg_class, aclexplode(relacl) WHERE oid = 'pair'::regclass
	LOOP
		EXECUTE format('GRANT %s ON change TO %s', may.do, may.who);
	END LOOP;
	IF (SELECT relrowsecurity FROM pg_class WHERE oid = 'pair'::regclass) THEN
		CREATE POLICY private ON change USING (author = session_user);
		ALTER TABLE change ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	END IF;
END $do$;
