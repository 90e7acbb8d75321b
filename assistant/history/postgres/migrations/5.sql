-- Version 5: a pair may have several answers, which are in body.more but for the chosen
-- one. Each request belongs to one of them.
ALTER TABLE request ADD COLUMN answer text NOT NULL DEFAULT '';
