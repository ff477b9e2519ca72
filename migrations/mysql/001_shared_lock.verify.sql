-- Fails where a table of rowlock 001, or one of its columns, is not there.

SELECT lock_type, source_id, version, owner, holder, acquired_at, expires_at, ttl_us, correlation_id,
       ended_at, ended_as, failure_count, expiry_count, fence_count, done_by, done_at, done_until,
       note, forced_at, forced_from, force_reason,
       asked_version, asked_at, asked_by, ask_reason
  FROM shared_lock
 WHERE 1 = 0;

SELECT number, name, applied_at
  FROM shared_lock_schema
 WHERE 1 = 0;
