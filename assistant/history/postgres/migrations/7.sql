-- Version 7: what the columns may contain and refer to is stated in the schema, times can be
-- read by people, and a store behind a pooler shows in the table store that it is open.

CREATE TABLE store (
	owner integer PRIMARY KEY,
	seen  timestamptz NOT NULL
);
-- Who may use the pairs may use it.
DO $do$
DECLARE g record;
BEGIN
	FOR g IN SELECT a.grantee, a.privilege_type AS may FROM pg_class, aclexplode(relacl) a
		WHERE oid = to_regclass('pair') AND a.grantee <> relowner AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
	LOOP
		EXECUTE format('GRANT %s ON store TO %s', g.may, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END);
	END LOOP;
END $do$;

-- The exact times stay in the numbers, because a timestamptz has neither nanoseconds nor a zone.
-- A clock may have been wrong: a time outside of the years 1 to 9999 is NULL.
ALTER TABLE pair ADD COLUMN created timestamptz GENERATED ALWAYS AS
	(CASE WHEN sec BETWEEN -62135596800 AND 253402300799 THEN to_timestamp(sec::double precision + nsec / 1e9::double precision) END) STORED;
ALTER TABLE request ADD COLUMN sent timestamptz GENERATED ALWAYS AS
	(CASE WHEN sec BETWEEN -62135596800 AND 253402300799 THEN to_timestamp(sec::double precision + nsec / 1e9::double precision) END) STORED;
ALTER TABLE change ADD COLUMN at timestamptz GENERATED ALWAYS AS
	(CASE WHEN sec BETWEEN -62135596800 AND 253402300799 THEN to_timestamp(sec::double precision + nsec / 1e9::double precision) END) STORED;
ALTER TABLE session
	ADD COLUMN started_at timestamptz GENERATED ALWAYS AS
		(CASE WHEN started BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(started / 1e3::double precision) END) STORED,
	ADD COLUMN used_at timestamptz GENERATED ALWAYS AS
		(CASE WHEN used BETWEEN -62135596800000 AND 253402300799999 THEN to_timestamp(used / 1e3::double precision) END) STORED;

-- The root has no row in topic.
ALTER TABLE pair ADD COLUMN topic_row bigint GENERATED ALWAYS AS (nullif(topic, 0)) STORED;
CREATE INDEX pair_topic ON pair (topic_row) WHERE topic_row IS NOT NULL;

ALTER TABLE pair
	ADD CONSTRAINT pair_in_session FOREIGN KEY (session) REFERENCES session NOT VALID,
	ADD CONSTRAINT pair_has_topic FOREIGN KEY (topic_row) REFERENCES topic NOT VALID,
	ADD CONSTRAINT pair_has_model FOREIGN KEY (model) REFERENCES model NOT VALID,
	ADD CONSTRAINT pair_has_author FOREIGN KEY (author) REFERENCES author NOT VALID,
	ADD CONSTRAINT pair_star CHECK (star BETWEEN 0 AND 3) NOT VALID,
	ADD CONSTRAINT pair_flag CHECK (flag IN (0, 1)) NOT VALID,
	ADD CONSTRAINT pair_state CHECK (state BETWEEN 0 AND 4) NOT VALID,
	ADD CONSTRAINT pair_nsec CHECK (nsec BETWEEN 0 AND 999999999) NOT VALID,
	ADD CONSTRAINT pair_attachments CHECK (attachments >= 0) NOT VALID;
ALTER TABLE pair_picture ADD CONSTRAINT pair_picture_author FOREIGN KEY (author) REFERENCES author NOT VALID;
ALTER TABLE picture
	ADD CONSTRAINT picture_author FOREIGN KEY (author) REFERENCES author NOT VALID,
	ADD CONSTRAINT picture_hash CHECK (hash ~ '^[0-9a-f]{64}$') NOT VALID;
ALTER TABLE request
	ADD CONSTRAINT request_nsec CHECK (nsec BETWEEN 0 AND 999999999) NOT VALID,
	ADD CONSTRAINT request_size CHECK (size >= 0 AND packed >= 0) NOT VALID;
ALTER TABLE change
	ADD CONSTRAINT change_nsec CHECK (nsec BETWEEN 0 AND 999999999) NOT VALID,
	ADD CONSTRAINT change_more CHECK (more >= 0) NOT VALID;
ALTER TABLE session ADD CONSTRAINT session_upto CHECK (upto >= 0) NOT VALID;
ALTER TABLE meta ADD CONSTRAINT meta_rev CHECK (rev > 0) NOT VALID;

-- Rows that were damaged before must not keep the history from opening: winnow history check
-- names them, and new rows are checked in any case.
DO $do$
DECLARE c record;
BEGIN
	FOR c IN SELECT conrelid::regclass AS place, conname AS name FROM pg_constraint
		WHERE connamespace = current_schema()::regnamespace AND NOT convalidated
	LOOP
		BEGIN
			EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', c.place, c.name);
		EXCEPTION WHEN foreign_key_violation OR check_violation THEN
			RAISE WARNING 'winnow: rows of % violate %', c.place, c.name;
		END;
	END LOOP;
END $do$;

COMMENT ON TABLE meta IS 'One row. Every change of pairs, topics and saved filters increments rev first and locks the row until it commits.';
COMMENT ON COLUMN meta.version IS 'Version of this schema.';
COMMENT ON SEQUENCE owner IS 'Numbers of open stores.';
COMMENT ON TABLE store IS 'Open stores behind a pooler; others hold the advisory lock (2003725943, owner).';
COMMENT ON COLUMN store.seen IS 'When the store last showed that it is open.';
COMMENT ON TABLE session IS 'Conversations.';
COMMENT ON COLUMN session.started IS 'Unix milliseconds; started_at for people.';
COMMENT ON COLUMN session.used IS 'Unix milliseconds; used_at for people.';
COMMENT ON COLUMN session.touched IS 'meta.rev of the last use, for the order.';
COMMENT ON COLUMN session.queued IS 'JSON of the prompt that waits to be sent.';
COMMENT ON COLUMN session.state IS 'JSON of the program.';
COMMENT ON COLUMN session.title IS 'Empty: the first message is the title.';
COMMENT ON COLUMN session.parent IS 'Id of the session that this one branches from, or empty.';
COMMENT ON COLUMN session.upto IS 'Seq of the last pair that is taken over from the parent.';
COMMENT ON TABLE model IS 'Names of models.';
COMMENT ON TABLE author IS 'Names of authors.';
COMMENT ON TABLE topic IS 'Paths such as AI > Agents. All parents of a topic are here too.';
COMMENT ON TABLE pair IS 'A user message and what the assistant produced for it: the columns that filters use. The texts are in body.';
COMMENT ON COLUMN pair.topic IS 'Row of topic; 0 is the root.';
COMMENT ON COLUMN pair.topic_row IS 'topic, or NULL for the root.';
COMMENT ON COLUMN pair.version IS 'meta.rev of the last replacement of the texts.';
COMMENT ON COLUMN pair.star IS '0 to 3.';
COMMENT ON COLUMN pair.flag IS '1 is flagged.';
COMMENT ON COLUMN pair.state IS '0 idle, 1 sending, 2 complete, 3 error, 4 partial.';
COMMENT ON COLUMN pair.sec IS 'Unix seconds; with nsec and zone the exact time, which created shows to people.';
COMMENT ON COLUMN pair.zone IS 'Seconds east of UTC.';
COMMENT ON COLUMN pair.attachments IS 'Number of attachments.';
COMMENT ON COLUMN pair.sends IS 'The pair contributes messages to a request.';
COMMENT ON COLUMN pair.parts IS 'Runes of each part of a request, as varints.';
COMMENT ON COLUMN pair.cut IS 'Name of the rollback that hides the pair, or NULL.';
COMMENT ON COLUMN pair.owner IS 'Store that is sending the pair, or NULL.';
COMMENT ON TABLE body IS 'The texts of pairs.';
COMMENT ON COLUMN body.more IS 'JSON of the fields that have no column.';
COMMENT ON COLUMN body.exact IS 'JSON of the texts that PostgreSQL cannot store, or NULL.';
COMMENT ON COLUMN body.sum IS 'CRC-32C of the texts.';
COMMENT ON COLUMN body.user_low IS 'user_text in lower case, for search.';
COMMENT ON COLUMN body.answer_low IS 'answer in lower case, for search.';
COMMENT ON TABLE deleted IS 'Who deleted the newest of the deleted pairs.';
COMMENT ON TABLE request IS 'The requests that were sent to a provider.';
COMMENT ON COLUMN request.sec IS 'Unix seconds; with nsec and zone the exact time, which sent shows to people.';
COMMENT ON COLUMN request.answer IS 'Which answer of the pair the request belongs to.';
COMMENT ON COLUMN request.size IS 'Bytes of the JSON document.';
COMMENT ON COLUMN request.packed IS 'Bytes of body.';
COMMENT ON COLUMN request.body IS 'The JSON document, compressed with gzip.';
COMMENT ON TABLE intent IS 'Changes of several stores that have been completed.';
COMMENT ON TABLE saved_filter IS 'Filter lines with a name.';
COMMENT ON TABLE draft IS 'Unsent messages of each author.';
COMMENT ON TABLE sent IS 'Lines that each author sent.';
COMMENT ON TABLE filter_line IS 'Filter lines that each author used.';
COMMENT ON TABLE setting IS 'What the program remembers of each author.';
COMMENT ON TABLE picture IS 'Pictures, each once for an author.';
COMMENT ON COLUMN picture.hash IS 'SHA-256 of data, in hexadecimal.';
COMMENT ON TABLE pair_picture IS 'Which pairs have which pictures.';
COMMENT ON TABLE change IS 'Who changed what in the windows that programs serve.';
COMMENT ON COLUMN change.author IS 'The database role that added the row.';
COMMENT ON COLUMN change.path IS 'Path of the file of the window on host.';
COMMENT ON COLUMN change.seq IS 'Number in the journal of the window.';
COMMENT ON COLUMN change.sec IS 'Unix seconds; with nsec the exact time, which at shows to people.';
COMMENT ON COLUMN change.changed IS 'The values that differ: [{"path", "before", "after"}].';
COMMENT ON COLUMN change.more IS 'How many differing values are left out.';
