-- An option: the history of the lock table. Each hold of a key is one row of shared_lock_event when it
-- is over, however it ended, and each row lock and optimistic commit is one; a renewal is none. The
-- triggers write in the transaction that changes the lock table, so a rollback undoes both.
--
-- An event that cannot be written stops the change: SQLite's triggers catch no error. The file is one,
-- so it is full or locked for both. While the table of the events is missing, SQLite does not execute a
-- change of the lock table. rowlock then drops the triggers; in plain SQL do the same (history.down.sql).
--
-- Apply it in one transaction: with BEGIN before it and COMMIT after it, unless the tool begins one by
-- itself. Applied again, it leaves the table and makes the triggers anew.
--
-- Times are UTC text 'YYYY-MM-DD HH:MM:SS.SSS'.

CREATE TABLE IF NOT EXISTS shared_lock_event (
  -- History of the lock table: a row for each hold that is over, row lock and optimistic commit.

  -- Number of the row.
  number         INTEGER PRIMARY KEY,
  -- Time at which the row was written; of ran out, when that was found out.
  at             TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')),
  -- Type of the key.
  lock_type      TEXT    NOT NULL,
  -- Id of the key within its type.
  source_id      TEXT    NOT NULL,
  -- released; failed: released after an error; handed over: to a waiter of the same process; forced: taken
  -- away; ran out: taken over, or unset; closed: granted to no one until then; done: remembered until then;
  -- asked: its holder was asked to yield, at that time; by a transaction: locked, committed. That a key was granted is in the row of its end, and before in the
  -- lock table.
  what           TEXT    NOT NULL,
  -- Version of the row after the change.
  version        INTEGER NOT NULL,
  -- Version of the row during the hold.
  token          INTEGER,
  -- Holder; null for a transaction.
  holder         TEXT,
  -- Time at which the key was granted.
  since          TEXT,
  -- Time at which the hold was over; of closed and done, until when that holds.
  until          TEXT,
  -- Reason that was given for taking the key away.
  reason         TEXT,
  -- Name that the holder's own logs have for its work.
  correlation_id TEXT,

  -- Indexes, in the form that needs no name.
  UNIQUE (at, number),
  UNIQUE (since, number),
  UNIQUE (lock_type, source_id, at, number)
) STRICT;

DROP TRIGGER IF EXISTS shared_lock_record;

CREATE TRIGGER shared_lock_record
  AFTER UPDATE OF version ON shared_lock
  WHEN OLD.version <> NEW.version AND (OLD.owner IS NOT NULL OR NEW.owner IS NULL)
BEGIN
  INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, reason)
  SELECT OLD.asked_at, NEW.lock_type, NEW.source_id, 'asked', NEW.version, OLD.version, OLD.asked_by,
         OLD.ask_reason
   WHERE OLD.asked_version = OLD.version;
  INSERT INTO shared_lock_event (lock_type, source_id, what, version, token, holder, since, until,
                                 reason, correlation_id)
  SELECT NEW.lock_type, NEW.source_id,
         CASE WHEN NEW.expiry_count > OLD.expiry_count OR NEW.owner = OLD.owner THEN 'ran out'
              WHEN NEW.failure_count > OLD.failure_count THEN 'failed'
              WHEN NEW.owner IS NOT NULL THEN 'handed over'
              WHEN NEW.forced_at IS NOT OLD.forced_at THEN 'forced'
              ELSE 'released' END,
         NEW.version, OLD.version, OLD.holder, OLD.acquired_at,
         CASE WHEN NEW.expiry_count > OLD.expiry_count OR NEW.owner = OLD.owner THEN OLD.expires_at
              ELSE strftime('%Y-%m-%d %H:%M:%f', 'now') END,
         CASE WHEN NEW.forced_at IS NOT OLD.forced_at THEN NEW.force_reason END, OLD.correlation_id
   WHERE OLD.owner IS NOT NULL
  UNION ALL
  SELECT NEW.lock_type, NEW.source_id, 'done', NEW.version, OLD.version, OLD.holder, NULL,
         NEW.done_until, NULL, NULL
   WHERE NEW.owner IS NULL AND NEW.done_at IS NOT OLD.done_at
  UNION ALL
  SELECT NEW.lock_type, NEW.source_id, 'closed', NEW.version, OLD.version, OLD.holder, NULL,
         NEW.expires_at, NULL, NULL
   WHERE NEW.owner IS NULL AND NEW.expires_at > strftime('%Y-%m-%d %H:%M:%f', 'now')
  UNION ALL
  SELECT NEW.lock_type, NEW.source_id, 'forced', NEW.version, NULL, OLD.holder, NULL, NULL,
         NEW.force_reason, NULL
   WHERE OLD.owner IS NULL AND NEW.owner IS NULL AND NEW.forced_at IS NOT OLD.forced_at
  UNION ALL
  SELECT NEW.lock_type, NEW.source_id,
         CASE WHEN NEW.ended_as = 'locked' THEN 'locked' ELSE 'committed' END, NEW.version, NULL, NULL, NULL, NULL, NULL, NULL
   WHERE NEW.owner IS NULL AND NEW.forced_at IS OLD.forced_at
     AND (OLD.owner IS NULL OR NEW.ended_as = 'locked');
END;

DROP TRIGGER IF EXISTS shared_lock_insert;

CREATE TRIGGER shared_lock_insert
  AFTER INSERT ON shared_lock
  WHEN NEW.ended_as = 'locked'
BEGIN
  INSERT INTO shared_lock_event (lock_type, source_id, what, version)
  VALUES (NEW.lock_type, NEW.source_id, 'locked', NEW.version);
END;
