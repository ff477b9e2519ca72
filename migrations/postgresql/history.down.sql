-- Ends the history. The events stay until DROP TABLE shared_lock_event.
--
-- One statement, and so one transaction. What is not there is left out, so it can be run again.

DO $migration$
BEGIN

-- DROP ... IF EXISTS would print a notice for what is not there.
IF EXISTS (SELECT FROM pg_trigger
            WHERE tgrelid = to_regclass('shared_lock') AND tgname = 'record_of_shared_lock') THEN
  DROP TRIGGER record_of_shared_lock ON shared_lock;
END IF;
IF to_regprocedure('shared_lock_record()') IS NOT NULL THEN
  DROP FUNCTION shared_lock_record();
END IF;

END
$migration$;
