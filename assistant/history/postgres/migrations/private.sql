-- Optional: the database shows and changes to each role its own rows only. The
-- policies ask for session_user, which SET ROLE does not change, and are forced on
-- the owner of the tables too. A new table with texts needs its own here and in
-- public.sql, which runs before this.
CREATE POLICY private ON pair USING (author = (SELECT n FROM author WHERE name = session_user));
CREATE POLICY private ON body USING (EXISTS (SELECT 1 FROM pair p WHERE p.seq = body.seq));
CREATE POLICY private ON request USING (EXISTS (SELECT 1 FROM pair p WHERE p.seq = request.seq));
CREATE POLICY private ON picture USING (author = (SELECT n FROM author WHERE name = session_user));
CREATE POLICY private ON pair_picture USING (author = (SELECT n FROM author WHERE name = session_user));
-- A session has the message that waits to be sent. One that was shared before stays
-- so with those who have a pair in it.
CREATE POLICY private ON session USING (author = session_user OR EXISTS (SELECT 1 FROM pair p WHERE p.session = session.n));
CREATE POLICY private ON draft USING (author = session_user);
CREATE POLICY private ON sent USING (author = session_user);
CREATE POLICY private ON filter_line USING (author = session_user);
CREATE POLICY private ON setting USING (author = session_user);
CREATE POLICY private ON change USING (author = session_user);
-- Topics belong to all, and none is deleted: unseen pairs may be in it.
CREATE POLICY private ON topic USING (true);
CREATE POLICY private_delete ON topic AS RESTRICTIVE FOR DELETE USING (false);

ALTER TABLE pair ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE body ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE request ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE picture ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pair_picture ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE session ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE draft ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE sent ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE filter_line ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE setting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE change ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE topic ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
