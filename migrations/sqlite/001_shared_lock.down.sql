-- rowlock 001, taken back. Everything that the lock table knew is gone with it.

DELETE FROM shared_lock_schema WHERE number = 1;
DROP TABLE shared_lock;
-- Of the history, if there is one; its triggers are gone with the table.
DROP TABLE IF EXISTS shared_lock_event;
DROP TABLE shared_lock_schema;
