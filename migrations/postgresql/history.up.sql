-- An option: the history of the lock table. Each hold of a key is one row of shared_lock_event when it
-- is over, however it ended, and each row lock and optimistic commit is one; a renewal is none. The
-- trigger writes in the transaction that changes the lock table, so a rollback undoes both.
--
-- Events that cannot be written are left out, all of a statement, and the lock goes on: the event table
-- is gone or full, the role may not insert into it, or another session has locked it (for that, no
-- transaction waits).
-- Statements that maintain the table should let others insert meanwhile (CREATE INDEX CONCURRENTLY).
-- One statement, and so one transaction. Applied again, it leaves the table and makes the trigger anew.
-- The names are those of the session that changes a row, so name the lock table with its schema where
-- sessions have different ones in their search_path.
--
-- Times are those of the server's clock_timestamp().

DO $migration$
BEGIN

IF to_regclass('shared_lock_event') IS NULL THEN
  CREATE TABLE shared_lock_event (
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    lock_type      text COLLATE "C" NOT NULL,
    source_id      text COLLATE "C" NOT NULL,
    -- That a key was granted is in the row of its end, and before in the lock table.
    what           text NOT NULL,
    version        bigint NOT NULL,
    token          bigint,
    holder         text,
    since          timestamptz,
    until          timestamptz,
    reason         text,
    correlation_id text
  );

  -- Without one, a publication for all tables would make every purge of events fail.
  ALTER TABLE shared_lock_event REPLICA IDENTITY FULL;

  CREATE INDEX ON shared_lock_event (at);
  CREATE INDEX ON shared_lock_event (since);
  CREATE INDEX ON shared_lock_event (lock_type, source_id, at);

  COMMENT ON TABLE shared_lock_event IS
    'History of the lock table: a row for each hold that is over, row lock and optimistic commit';
  COMMENT ON COLUMN shared_lock_event.at IS
    'Time at which the row was written; of ran out, when that was found out';
  COMMENT ON COLUMN shared_lock_event.lock_type IS
    'Type of the key';
  COMMENT ON COLUMN shared_lock_event.source_id IS
    'Id of the key within its type';
  COMMENT ON COLUMN shared_lock_event.what IS
    'released; failed: released after an error; handed over: to a waiter of the same process; '
    'forced: taken away; ran out: taken over, or unset; closed: granted to no one until then; '
    'done: remembered until then; by a transaction: locked, committed';
  COMMENT ON COLUMN shared_lock_event.version IS
    'Version of the row after the change';
  COMMENT ON COLUMN shared_lock_event.token IS
    'Version of the row during the hold';
  COMMENT ON COLUMN shared_lock_event.holder IS
    'Holder; of a transaction its session';
  COMMENT ON COLUMN shared_lock_event.since IS
    'Time at which the key was granted';
  COMMENT ON COLUMN shared_lock_event.until IS
    'Time at which the hold was over; of closed and done, until when that holds';
  COMMENT ON COLUMN shared_lock_event.reason IS
    'Reason that was given for taking the key away';
  COMMENT ON COLUMN shared_lock_event.correlation_id IS
    'Name that the holder''s own logs have for its work';
END IF;

-- Once for each statement, so that one subtransaction (the block with EXCEPTION) and one INSERT write the
-- events of all its rows. A statement that only grants or renews does not enter the block. EXCEPT and FULL
-- JOIN compare the rows by hashing or sorting: a plan that was made for one row may be used for many, and
-- a nested loop would be quadratic. The conditions with coalesce leave the FULL JOIN one.
CREATE OR REPLACE FUNCTION shared_lock_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM new_rows WHERE owner IS NULL) THEN
    IF NOT EXISTS (SELECT FROM old_rows WHERE owner IS NOT NULL) THEN
      RETURN NULL;  -- grants
    END IF;
    IF NOT EXISTS (SELECT lock_type, source_id, version FROM old_rows WHERE owner IS NOT NULL
                   EXCEPT SELECT lock_type, source_id, version FROM new_rows) THEN
      RETURN NULL;  -- renewals
    END IF;
  END IF;
  BEGIN
    LOCK TABLE shared_lock_event IN ROW EXCLUSIVE MODE NOWAIT;
    INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, since, until,
                                   reason, correlation_id)
    SELECT lock_type, source_id,
           CASE WHEN n.expiry_count > o.expiry_count OR n.owner = o.owner THEN 'ran out'
                WHEN n.failure_count > o.failure_count THEN 'failed'
                WHEN n.owner IS NOT NULL THEN 'handed over'
                WHEN n.forced_at IS DISTINCT FROM o.forced_at THEN 'forced'
                ELSE 'released' END,
           n.version, o.version, o.holder, o.acquired_at,
           CASE WHEN n.expiry_count > o.expiry_count OR n.owner = o.owner
                THEN o.expires_at ELSE clock_timestamp() END,
           CASE WHEN n.forced_at IS DISTINCT FROM o.forced_at THEN n.force_reason END,
           o.correlation_id
      FROM old_rows o FULL JOIN new_rows n USING (lock_type, source_id)
     WHERE coalesce(o.version, 0) <> coalesce(n.version, 0) AND coalesce(o.owner, '') <> '';
    -- What few statements do.
    IF EXISTS (SELECT FROM old_rows WHERE owner IS NULL)
       OR EXISTS (SELECT FROM new_rows
                   WHERE owner IS NULL
                     AND (expires_at > clock_timestamp() OR ended_as = 'locked' OR done_at IS NOT NULL))
       OR EXISTS (SELECT FROM old_rows WHERE asked_version = version) THEN
      INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, until, reason)
      SELECT CASE WHEN e.what = 'asked' THEN o.asked_at ELSE clock_timestamp() END,
             lock_type, source_id, e.what, n.version, e.token, e.holder, e.until, e.reason
        FROM old_rows o FULL JOIN new_rows n USING (lock_type, source_id)
       CROSS JOIN LATERAL (VALUES
         ('asked', o.asked_version = o.version,
          o.version, o.asked_by, NULL, o.ask_reason),
         ('done', n.owner IS NULL AND n.done_at IS DISTINCT FROM o.done_at,
          o.version, o.holder, n.done_until, NULL),
         ('closed', n.owner IS NULL AND n.expires_at > clock_timestamp(),
          o.version, o.holder, n.expires_at, NULL),
         ('forced', n.owner IS NULL AND o.owner IS NULL AND n.expires_at <= clock_timestamp()
                    AND n.forced_at IS DISTINCT FROM o.forced_at,
          NULL, o.holder, NULL, n.force_reason),
         (CASE WHEN n.ended_as = 'locked' THEN 'locked' ELSE 'committed' END,
          n.owner IS NULL AND n.expires_at <= clock_timestamp() AND n.forced_at IS NOT DISTINCT FROM o.forced_at
          AND (o.owner IS NULL OR n.ended_as = 'locked'),
          NULL, concat_ws(' ', 'pid', pg_backend_pid(),
                          '(' || nullif(current_setting('application_name'), '') || ')'), NULL, NULL))
         e (what, has_happened, token, holder, until, reason)
       WHERE coalesce(o.version, 0) <> coalesce(n.version, 0) AND e.has_happened;
    END IF;
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  RETURN NULL;
END $$;

-- DROP TRIGGER IF EXISTS would print a notice where there is none.
IF EXISTS (SELECT FROM pg_trigger
            WHERE tgrelid = to_regclass('shared_lock') AND tgname = 'record_of_shared_lock') THEN
  DROP TRIGGER record_of_shared_lock ON shared_lock;
END IF;

CREATE TRIGGER record_of_shared_lock
  AFTER UPDATE ON shared_lock
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION shared_lock_record();

END
$migration$;
