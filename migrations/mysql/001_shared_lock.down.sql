-- rowlock 001, taken back. Everything that the lock table knew is gone with it.

DELETE FROM shared_lock_schema WHERE number = 1;
DROP TABLE shared_lock;
DROP TABLE shared_lock_schema;
