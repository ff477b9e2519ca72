-- rowlock 001, taken back: all locks are gone with it, and so is the history, whose triggers go with the
-- table.
--
-- No transaction: these servers commit at each DROP TABLE. What is not there is left out, so it can be run
-- again, after it was interrupted too.

DROP TABLE IF EXISTS shared_lock;
DROP TABLE IF EXISTS shared_lock_event;
DROP TABLE IF EXISTS shared_lock_schema;
