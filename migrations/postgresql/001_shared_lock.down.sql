-- Drops everything that 001_shared_lock.up.sql made, and with it all locks.

DROP TABLE shared_lock_schema;

DROP FUNCTION shared_lock_lock(text[], text[], integer, boolean, integer);

DROP TABLE shared_lock;

-- The history, if there is one. (IF EXISTS would print a notice where there is none.)
DO $$
BEGIN
  IF to_regproc('shared_lock_record') IS NOT NULL THEN DROP FUNCTION shared_lock_record(); END IF;
  IF to_regclass('shared_lock_event') IS NOT NULL THEN DROP TABLE shared_lock_event; END IF;
END $$;

DROP DOMAIN shared_lock_type, shared_lock_id, shared_lock_token, shared_lock_owner,
  shared_lock_holder, shared_lock_time, shared_lock_note;
