-- An option: the history of the lock table. Each hold of a key is one row of shared_lock_event when it
-- is over, however it ended, and each row lock and optimistic commit is one; a renewal is none. The
-- trigger writes in the transaction that changes the lock table, so a rollback undoes both.
--
-- An event that cannot be written is left out, and the lock goes on: the event table is gone or full,
-- the role may not insert into it, or another session has locked it (for that, no transaction waits).
-- Statements that maintain the table should let others insert meanwhile (CREATE INDEX CONCURRENTLY).
-- Can be applied again: what is there stays. The names are those of the session that changes a row, so
-- name the lock table with its schema where sessions have different ones in their search_path.
--
-- Times are those of the server's clock_timestamp().

DO $$
BEGIN
  IF to_regclass('shared_lock_event') IS NULL THEN
    CREATE TABLE shared_lock_event (
      -- When it was written. For `ran out` that is when it was found out.
      at             timestamptz NOT NULL DEFAULT clock_timestamp(),
      lock_type      text COLLATE "C" NOT NULL,
      source_id      text COLLATE "C" NOT NULL,
      -- The end of a hold: released; failed (released after an error); handed over (to a waiter of the same
      -- process); forced (taken away); ran out (taken over, or unset). Beside it: closed (no owner is granted
      -- the key until `until`), done (the work is remembered until `until`). By a transaction: locked,
      -- committed. That a key was granted is in the row of its end, and before in the lock table.
      what           text NOT NULL,
      -- The row's version after the change, and the one that the hold had.
      version        bigint NOT NULL,
      token          bigint,
      -- Of a transaction, its session.
      holder         text,
      -- When the key was granted, and when the hold was over.
      since          timestamptz,
      until          timestamptz,
      reason         text,
      correlation_id text
    );

    CREATE INDEX ON shared_lock_event (at);
    CREATE INDEX ON shared_lock_event (since);
    CREATE INDEX ON shared_lock_event (lock_type, source_id, at);
  END IF;
END $$;

-- Without WHEN: PostgreSQL parses that condition anew for each statement, which takes longer than a
-- call. The block with EXCEPTION is a subtransaction, so a grant does not enter it.
CREATE OR REPLACE FUNCTION shared_lock_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.owner IS NULL AND NEW.owner IS NOT NULL OR OLD.version = NEW.version THEN
    RETURN NULL;
  END IF;
  BEGIN
    LOCK TABLE shared_lock_event IN ROW EXCLUSIVE MODE NOWAIT;
    IF OLD.owner IS NOT NULL THEN
      INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, since, until,
                                     reason, correlation_id)
      VALUES (NEW.lock_type, NEW.source_id,
              CASE WHEN NEW.expiry_count > OLD.expiry_count OR NEW.owner = OLD.owner THEN 'ran out'
                   WHEN NEW.failure_count > OLD.failure_count THEN 'failed'
                   WHEN NEW.owner IS NOT NULL THEN 'handed over'
                   WHEN NEW.forced_at IS DISTINCT FROM OLD.forced_at THEN 'forced'
                   ELSE 'released' END,
              NEW.version, OLD.version, OLD.holder, OLD.acquired_at,
              CASE WHEN NEW.expiry_count > OLD.expiry_count OR NEW.owner = OLD.owner
                   THEN OLD.expires_at ELSE clock_timestamp() END,
              CASE WHEN NEW.forced_at IS DISTINCT FROM OLD.forced_at THEN NEW.force_reason END,
              OLD.correlation_id);
    END IF;
    IF NEW.owner IS NULL AND (OLD.owner IS NULL OR NEW.expires_at > 'epoch'
         OR NEW.ended_as = 'locked' OR NEW.done_at IS DISTINCT FROM OLD.done_at) THEN
      IF NEW.done_at IS DISTINCT FROM OLD.done_at THEN
        INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, until)
        VALUES (NEW.lock_type, NEW.source_id, 'done', NEW.version, OLD.version, OLD.holder,
                NEW.done_until);
      END IF;
      IF NEW.expires_at > 'epoch' THEN
        INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, until)
        VALUES (NEW.lock_type, NEW.source_id, 'closed', NEW.version, OLD.version, OLD.holder,
                NEW.expires_at);
      ELSIF OLD.owner IS NULL AND NEW.forced_at IS DISTINCT FROM OLD.forced_at THEN
        INSERT INTO shared_lock_event (lock_type, source_id, what, version, holder, reason)
        VALUES (NEW.lock_type, NEW.source_id, 'forced', NEW.version, OLD.holder, NEW.force_reason);
      ELSIF OLD.owner IS NULL OR NEW.ended_as = 'locked' THEN
        INSERT INTO shared_lock_event (lock_type, source_id, what, version, holder)
        VALUES (NEW.lock_type, NEW.source_id,
                CASE WHEN NEW.ended_as = 'locked' THEN 'locked' ELSE 'committed' END, NEW.version,
                concat_ws(' ', 'pid', pg_backend_pid(),
                          '(' || nullif(current_setting('application_name'), '') || ')'));
      END IF;
    END IF;
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS record_of_shared_lock ON shared_lock;

CREATE TRIGGER record_of_shared_lock
  AFTER UPDATE OF version ON shared_lock
  FOR EACH ROW EXECUTE FUNCTION shared_lock_record();
