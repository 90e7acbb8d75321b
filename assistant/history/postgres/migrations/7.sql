-- Version 7: constraints state what the columns may contain and refer to, generated columns show
-- times in a readable form, and a store behind a pooler shows in the table store that it is open.

CREATE TABLE store (
	owner integer PRIMARY KEY,
	seen  timestamptz NOT NULL
);
-- Roles have the same privileges on store as on pair.
DO $do$
DECLARE g record;
BEGIN
	FOR g IN SELECT a.grantee, a.privilege_type AS may FROM pg_class, aclexplode(relacl) a
		WHERE oid = to_regclass('pair') AND a.grantee <> relowner AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
	LOOP
		EXECUTE format('GRANT %s ON store TO %s', g.may, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END);
	END LOOP;
END $do$;

-- The numbers remain the exact times, because a timestamptz has neither nanoseconds nor a zone. A
-- time outside the years 1 to 9999, as from a clock that was wrong, becomes NULL.
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

-- Rows that violate a constraint must not prevent the history from being opened, so violations only
-- cause a warning. winnow history check lists such rows; the constraints always apply to new rows.
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

COMMENT ON TABLE meta IS 'One row. Every change to pairs, topics and saved filters first increments rev, and thus locks the row until it commits.';
COMMENT ON COLUMN meta.version IS 'Version of this schema.';
COMMENT ON SEQUENCE owner IS 'Numbers of open stores.';
COMMENT ON TABLE store IS 'Open stores behind a pooler; others hold the advisory lock (2003725943, owner).';
COMMENT ON COLUMN store.seen IS 'When the store last showed that it is open.';
COMMENT ON TABLE session IS 'Conversations.';
COMMENT ON COLUMN session.started IS 'Unix milliseconds; started_at is the readable form.';
COMMENT ON COLUMN session.used IS 'Unix milliseconds; used_at is the readable form.';
COMMENT ON COLUMN session.touched IS 'meta.rev of the last use, for sorting.';
COMMENT ON COLUMN session.queued IS 'JSON of the queued message.';
COMMENT ON COLUMN session.state IS 'JSON document of the program.';
COMMENT ON COLUMN session.title IS 'Empty: the first message is the title.';
COMMENT ON COLUMN session.parent IS 'Id of the session that this one branches from, or empty.';
COMMENT ON COLUMN session.upto IS 'Seq of the last pair taken over from the parent.';
COMMENT ON TABLE model IS 'Names of models.';
COMMENT ON TABLE author IS 'Names of authors.';
COMMENT ON TABLE topic IS 'Paths such as AI > Agents. All parents of a topic are rows, too.';
COMMENT ON TABLE pair IS 'A user message and what the assistant produced for it: the columns that filters use. The texts are in body.';
COMMENT ON COLUMN pair.topic IS 'Row of topic; 0 is the root.';
COMMENT ON COLUMN pair.topic_row IS 'topic, or NULL for the root.';
COMMENT ON COLUMN pair.version IS 'meta.rev of the last replacement of the texts.';
COMMENT ON COLUMN pair.star IS '0 to 3.';
COMMENT ON COLUMN pair.flag IS '1: flagged.';
COMMENT ON COLUMN pair.state IS '0 idle, 1 sending, 2 complete, 3 error, 4 partial.';
COMMENT ON COLUMN pair.sec IS 'Unix seconds. sec, nsec and zone are the exact time; created is the readable form.';
COMMENT ON COLUMN pair.zone IS 'Seconds east of UTC.';
COMMENT ON COLUMN pair.attachments IS 'Number of attachments.';
COMMENT ON COLUMN pair.sends IS 'The pair contributes messages to a request.';
COMMENT ON COLUMN pair.parts IS 'Runes of each part of a request, as varints.';
COMMENT ON COLUMN pair.cut IS 'Name of the cut that hides the pair, or NULL.';
COMMENT ON COLUMN pair.owner IS 'Store that is sending the pair, or NULL.';
COMMENT ON TABLE body IS 'The texts of pairs.';
COMMENT ON COLUMN body.more IS 'JSON of the fields that have no column.';
COMMENT ON COLUMN body.exact IS 'JSON of texts that PostgreSQL cannot store, or NULL.';
COMMENT ON COLUMN body.sum IS 'CRC-32C of the pair except its marks.';
COMMENT ON COLUMN body.user_low IS 'user_text in lower case, for search.';
COMMENT ON COLUMN body.answer_low IS 'answer in lower case, for search.';
COMMENT ON TABLE deleted IS 'Who deleted pairs. Only the newest rows are kept.';
COMMENT ON TABLE request IS 'The requests that were sent to a provider.';
COMMENT ON COLUMN request.sec IS 'Unix seconds. sec, nsec and zone are the exact time; sent is the readable form.';
COMMENT ON COLUMN request.answer IS 'Id of the answer of the pair that the request belongs to.';
COMMENT ON COLUMN request.size IS 'Bytes of the JSON document.';
COMMENT ON COLUMN request.packed IS 'Bytes of body.';
COMMENT ON COLUMN request.body IS 'The JSON document, compressed with gzip.';
COMMENT ON TABLE intent IS 'Names of intents that have been committed.';
COMMENT ON TABLE saved_filter IS 'Named filter lines.';
COMMENT ON TABLE draft IS 'Unsent messages of each author.';
COMMENT ON TABLE sent IS 'Messages that each author sent.';
COMMENT ON TABLE filter_line IS 'Filter lines that each author entered.';
COMMENT ON TABLE setting IS 'Settings of each author.';
COMMENT ON TABLE picture IS 'Pictures, each stored once for each author.';
COMMENT ON COLUMN picture.hash IS 'SHA-256 of data, in hexadecimal.';
COMMENT ON TABLE pair_picture IS 'Which pairs have which pictures.';
COMMENT ON TABLE change IS 'Who changed what in the windows that programs serve.';
COMMENT ON COLUMN change.author IS 'The database role that added the row.';
COMMENT ON COLUMN change.path IS 'Path of the window''s file on host.';
COMMENT ON COLUMN change.seq IS 'Number in the journal of the window.';
COMMENT ON COLUMN change.sec IS 'Unix seconds. sec and nsec are the exact time; at is the readable form.';
COMMENT ON COLUMN change.changed IS 'The values that differ: [{"path", "before", "after"}].';
COMMENT ON COLUMN change.more IS 'Number of differing values left out.';
