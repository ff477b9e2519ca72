-- Ends the history. The events stay until DROP TABLE shared_lock_event.
--
-- No transaction: these servers commit at each DROP TRIGGER. What is not there is left out, so it can be
-- run again.

DROP TRIGGER IF EXISTS shared_lock_record;

DROP TRIGGER IF EXISTS shared_lock_insert;
