-- Ends the history. The events stay until DROP TABLE shared_lock_event.

DROP TRIGGER IF EXISTS shared_lock_record;

DROP TRIGGER IF EXISTS shared_lock_insert;
