-- Version 5: a pair may have several answers, all of which except the chosen one are in
-- body.more. Each request belongs to one of them.
ALTER TABLE request ADD COLUMN answer text NOT NULL DEFAULT '';
