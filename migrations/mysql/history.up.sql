-- An option: the history of the lock table. Each hold of a key is one row of shared_lock_event when it
-- is over, however it ended, and each row lock and optimistic commit is one; a renewal is none. The
-- triggers write in the transaction that changes the lock table, so a rollback undoes both. They run
-- with the rights of the user that creates them: others need none on the events. While that user does not
-- exist, the lock table cannot be changed: create the history as one that stays.
--
-- An event that cannot be written (the table is full, or missing) is left out, and the lock goes on. But
-- the server opens both tables before it executes a statement: while another session has locked the table
-- of events, so is the lock table.
-- Can be applied again: what is there stays.
--
-- Times are UTC.

CREATE TABLE IF NOT EXISTS shared_lock_event (
  -- When it was written. For `ran out` that is when it was found out.
  at             datetime(6) NOT NULL,
  lock_type      varchar(135) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source_id      varbinary(256) NOT NULL,
  -- The end of a hold: released; failed (released after an error); handed over (to a waiter of the same
  -- process); forced (taken away); ran out (taken over, or unset). Beside it: closed (no owner is granted
  -- the key until `until`), done (the work is remembered until `until`). By a transaction: locked,
  -- committed. That a key was granted is in the row of its end, and before in the lock table.
  what           varchar(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The row's version after the change, and the one that the hold had.
  version        bigint NOT NULL,
  token          bigint NULL,
  -- Of a transaction, its connection.
  holder         varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  -- When the key was granted, and when the hold was over.
  since          datetime(6) NULL,
  until          datetime(6) NULL,
  reason         varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  correlation_id varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,

  PRIMARY KEY (at, lock_type, source_id, version, what),
  KEY (since),
  KEY (lock_type, source_id, at)
) ENGINE = InnoDB STATS_PERSISTENT = 0;

DROP TRIGGER IF EXISTS shared_lock_record;

CREATE TRIGGER shared_lock_record
  AFTER UPDATE ON shared_lock
  FOR EACH ROW
BEGIN
  DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
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
