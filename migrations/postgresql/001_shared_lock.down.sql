-- rowlock 001, taken back: all locks are gone with it, and so is the history.
--
-- One statement, and so one transaction. What is not there is left out, so it can be run again.

DO $migration$
BEGIN

-- DROP ... IF EXISTS would print a notice for what is not there.
IF to_regclass('shared_lock_schema') IS NOT NULL THEN
  DROP TABLE shared_lock_schema;
END IF;
IF to_regprocedure('shared_lock_lock(text[], text[], integer, boolean, integer)') IS NOT NULL THEN
  DROP FUNCTION shared_lock_lock(text[], text[], integer, boolean, integer);
END IF;
IF to_regprocedure('shared_lock_try(text, text, integer)') IS NOT NULL THEN
  DROP FUNCTION shared_lock_try(text, text, integer);
END IF;
IF to_regprocedure('shared_lock_fence(text, text, bigint, text, text)') IS NOT NULL THEN
  DROP FUNCTION shared_lock_fence(text, text, bigint, text, text);
END IF;
IF to_regclass('shared_lock') IS NOT NULL THEN
  DROP TABLE shared_lock;
END IF;
IF to_regprocedure('shared_lock_record()') IS NOT NULL THEN
  DROP FUNCTION shared_lock_record();
END IF;
IF to_regclass('shared_lock_event') IS NOT NULL THEN
  DROP TABLE shared_lock_event;
END IF;
IF to_regtype('shared_lock_type') IS NOT NULL THEN
  DROP DOMAIN shared_lock_type, shared_lock_id, shared_lock_time, shared_lock_note;
END IF;

END
$migration$;
