-- rowlock 001, taken back: all locks are gone with it, and so is the history, whose triggers go with the
-- table.
--
-- Run it in one transaction: with BEGIN before it and COMMIT after it, unless the tool begins one by
-- itself. What is not there is left out, so it can be run again.

DROP TABLE IF EXISTS shared_lock;
DROP TABLE IF EXISTS shared_lock_event;
DROP TABLE IF EXISTS shared_lock_schema;
