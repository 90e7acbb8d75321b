-- Version 2: lines with d find the pairs of a time without reading the others.
CREATE INDEX pair_time ON pair (sec, nsec);
