-- Fails where the table of the history, or one of its columns, is not there.

SELECT at, lock_type, source_id, what, version, token, holder, since, until, reason, correlation_id
  FROM shared_lock_event
 WHERE false;
