-- Ends the history. The events stay until DROP TABLE shared_lock_event.

DROP TRIGGER IF EXISTS record_of_shared_lock ON shared_lock;

DROP FUNCTION IF EXISTS shared_lock_record();
