-- Ends the history. The events stay until DROP TABLE shared_lock_event.
--
-- Run it in one transaction: with BEGIN before it and COMMIT after it, unless the tool begins one by
-- itself. What is not there is left out, so it can be run again.

DROP TRIGGER IF EXISTS shared_lock_record;

DROP TRIGGER IF EXISTS shared_lock_insert;
