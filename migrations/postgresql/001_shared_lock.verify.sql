-- Fails where a table of rowlock 001, one of its columns, or one of its functions is not there.

SELECT lock_type, source_id, version, owner, holder, acquired_at, expires_at, ttl_us, correlation_id,
       ended_at, ended_as, failure_count, expiry_count, fence_count, waiting_until, done_by, done_at, done_until,
       note, forced_at, forced_from, force_reason,
       asked_version, asked_at, asked_by, ask_reason
  FROM shared_lock
 WHERE false;

SELECT 'shared_lock_lock(text[], text[], integer, boolean, integer)'::regprocedure,
       'shared_lock_try(text, text, integer)'::regprocedure,
       'shared_lock_fence(text, text, bigint, text, text)'::regprocedure;

SELECT number, name, applied_at
  FROM shared_lock_schema
 WHERE false;
