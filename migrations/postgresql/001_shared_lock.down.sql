-- Drops everything that 001_shared_lock.up.sql made, and with it all locks.

DROP TABLE shared_lock_schema;

DROP FUNCTION shared_lock_lock(text[], text[], integer, boolean, integer);

DROP TABLE shared_lock;

-- Of the history, if there is one.
DROP FUNCTION IF EXISTS shared_lock_record();

DROP TABLE IF EXISTS shared_lock_event;

DROP DOMAIN shared_lock_type, shared_lock_id, shared_lock_token, shared_lock_owner,
  shared_lock_holder, shared_lock_time, shared_lock_note;
