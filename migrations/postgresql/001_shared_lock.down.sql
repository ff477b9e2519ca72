-- Drops everything that 001_shared_lock.up.sql made, and with it all locks.

DROP TABLE shared_lock_schema;

DROP FUNCTION shared_lock_lock(text[], text[], integer, boolean, integer);

DROP TABLE shared_lock;
