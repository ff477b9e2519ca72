-- An option: the history of the lock table. Each hold of a key is one row of shared_lock_event when it
-- is over, however it ended, and each row lock and optimistic commit is one; a renewal is none. The
-- triggers write in the transaction that changes the lock table, so a rollback undoes both. They run
-- with the rights of the user that creates them: others need none on the events. While that user does not
-- exist, the lock table cannot be changed: create the history as one that stays.
--
-- An event that cannot be written (the table is full, or missing) is left out, and the lock goes on. But
-- the server opens both tables before it executes a statement: while another session has locked the table
-- of events, so is the lock table.
--
-- No transaction: these servers commit at each statement here. So it can be run again, after it was
-- interrupted too: the table stays, and the triggers are made anew.
--
-- Times are UTC.

CREATE TABLE IF NOT EXISTS shared_lock_event (
  at             datetime(6) NOT NULL
    COMMENT 'Time at which the row was written; of ran out, when that was found out',
  lock_type      varchar(135) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
    COMMENT 'Type of the key',
  source_id      varbinary(256) NOT NULL
    COMMENT 'Id of the key within its type',
  -- failed: released after an error; handed over: to a waiter of the same process; forced: taken away;
  -- ran out: taken over, or unset; closed: granted to no one until then; done: remembered until then. That
  -- a key was granted is in the row of its end, and before in the lock table.
  what           varchar(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
    COMMENT 'released, failed, handed over, forced, ran out, closed, done; of a transaction: locked, committed',
  version        bigint NOT NULL
    COMMENT 'Version of the row after the change',
  token          bigint NULL
    COMMENT 'Version of the row during the hold',
  holder         varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Holder; of a transaction its connection',
  since          datetime(6) NULL
    COMMENT 'Time at which the key was granted',
  until          datetime(6) NULL
    COMMENT 'Time at which the hold was over; of closed and done, until when that holds',
  reason         varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Reason that was given for taking the key away',
  correlation_id varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Name that the holder''s own logs have for its work',

  PRIMARY KEY (at, lock_type, source_id, version, what),
  KEY (since),
  KEY (lock_type, source_id, at)
) ENGINE = InnoDB STATS_PERSISTENT = 0
  COMMENT = 'History of the lock table: a row for each hold that is over, row lock and optimistic commit';

DROP TRIGGER IF EXISTS shared_lock_record;

CREATE TRIGGER shared_lock_record
  AFTER UPDATE ON shared_lock
  FOR EACH ROW
BEGIN
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
  IF OLD.version <> NEW.version AND OLD.asked_version = OLD.version THEN
    INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, reason)
    VALUES (OLD.asked_at, NEW.lock_type, NEW.source_id, 'asked', NEW.version, OLD.version, OLD.asked_by,
            OLD.ask_reason);
  END IF;
  IF OLD.version <> NEW.version AND OLD.owner IS NOT NULL THEN
    INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, since, until,
                                   reason, correlation_id)
    VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id,
            CASE WHEN NEW.expiry_count > OLD.expiry_count OR NEW.owner <=> OLD.owner THEN 'ran out'
                 WHEN NEW.failure_count > OLD.failure_count THEN 'failed'
                 WHEN NEW.owner IS NOT NULL THEN 'handed over'
                 WHEN NOT NEW.forced_at <=> OLD.forced_at THEN 'forced'
                 ELSE 'released' END,
            NEW.version, OLD.version, OLD.holder, OLD.acquired_at,
            IF(NEW.expiry_count > OLD.expiry_count OR NEW.owner <=> OLD.owner, OLD.expires_at,
               utc_timestamp(6)),
            IF(NEW.forced_at <=> OLD.forced_at, NULL, NEW.force_reason), OLD.correlation_id);
  END IF;
  IF OLD.version <> NEW.version AND NEW.owner IS NULL THEN
    IF NOT NEW.done_at <=> OLD.done_at THEN
      INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, until)
      VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id, 'done', NEW.version, OLD.version, OLD.holder,
              NEW.done_until);
    END IF;
    IF NEW.expires_at > utc_timestamp(6) THEN
      INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, token, holder, until)
      VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id, 'closed', NEW.version, OLD.version,
              OLD.holder, NEW.expires_at);
    END IF;
    IF OLD.owner IS NULL AND NOT NEW.forced_at <=> OLD.forced_at THEN
      INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, holder, reason)
      VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id, 'forced', NEW.version, OLD.holder,
              NEW.force_reason);
    ELSEIF (OLD.owner IS NULL OR NEW.ended_as = 'locked') AND NEW.forced_at <=> OLD.forced_at THEN
      INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, holder)
      VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id,
              IF(NEW.ended_as = 'locked', 'locked', 'committed'), NEW.version,
              left(concat('connection ', connection_id(), ' (', user(), ')'), 128));
    END IF;
  END IF;
END;

DROP TRIGGER IF EXISTS shared_lock_insert;

CREATE TRIGGER shared_lock_insert
  AFTER INSERT ON shared_lock
  FOR EACH ROW
BEGIN
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
  IF NEW.ended_as = 'locked' THEN
    INSERT INTO shared_lock_event (at, lock_type, source_id, what, version, holder)
    VALUES (utc_timestamp(6), NEW.lock_type, NEW.source_id, 'locked', NEW.version,
            left(concat('connection ', connection_id(), ' (', user(), ')'), 128));
  END IF;
END;
