-- rowlock 001: the lock table, one row per key; a release unsets the row and never deletes it.
-- Needs SQLite 3.37.
--
-- Apply it in one transaction: with BEGIN before it and COMMIT after it, unless the tool begins one by
-- itself. Where it was applied already, it changes nothing; a table that is lost it makes again.
--
-- Times are UTC text 'YYYY-MM-DD HH:MM:SS.SSS', so that they are ordered as they read. A lease is
-- live while expires_at > now; a row is unowned when owner is null. An unowned row with
-- expires_at > now was released to stay closed until then: it is granted to no caller.

CREATE TABLE IF NOT EXISTS shared_lock (
  -- Locks of rowlock, one row per key; a release never deletes a row.

  -- Type of the key: type or scope/type; with #number one of several rows of a key.
  -- [scope/]type[#number]: scope and type 1 to 64 bytes of A-Z a-z 0-9 _ . : - each, the number, of
  -- one of several rows of a key, 1 to 4 digits.
  lock_type     TEXT    NOT NULL
    CONSTRAINT lock_type_is_valid CHECK (
      instr(lock_type, char(0)) = 0
      AND lock_type NOT GLOB '*[^A-Za-z0-9_.:/#-]*'
      AND lock_type NOT GLOB '*/*/*'
      AND lock_type NOT GLOB '*#*[^0-9]*'
      AND instr(lock_type, '/') <> 1
      AND instr(lock_type, '/') <= 65
      AND CASE instr(lock_type, '#')
          WHEN 0 THEN length(lock_type) - instr(lock_type, '/') BETWEEN 1 AND 64
          ELSE instr(lock_type, '#') - 1 - instr(lock_type, '/') BETWEEN 1 AND 64
               AND length(lock_type) - instr(lock_type, '#') BETWEEN 1 AND 4
          END),
  -- Id of the key within its type: 1 to 255 bytes of UTF-8 without NUL.
  source_id     TEXT    NOT NULL
    CONSTRAINT source_id_is_valid CHECK (
      instr(source_id, char(0)) = 0
      AND length(CAST(source_id AS BLOB)) BETWEEN 1 AND 255),
  -- Rises at every grant, release and row lock; that of a grant is its fencing token.
  -- Set to max(version + 1, now in microseconds).
  -- The limit is far beyond every clock, and leaves room above it.
  version       INTEGER NOT NULL
    CONSTRAINT version_is_positive CHECK (version BETWEEN 1 AND 8999999999999999999),
  -- Secret of the lease that has the key, null if none; it can renew and release: show holder instead.
  -- 32 hexadecimal digits.
  owner         TEXT
    CONSTRAINT owner_is_valid CHECK (length(owner) = 32 AND owner NOT GLOB '*[^0-9a-f]*'),
  -- Holder of the last grant, for people to read; null once a transaction has used the row.
  holder        TEXT
    CONSTRAINT holder_is_short CHECK (length(CAST(holder AS BLOB)) <= 128),
  -- Time of the last grant; null once a transaction has used the row.
  acquired_at   TEXT
    CONSTRAINT acquired_at_is_a_time CHECK (acquired_at GLOB '????-??-?? ??:??:??.???'),
  -- Time at which the lease runs out; until then an unowned row is granted to no one.
  expires_at    TEXT    NOT NULL DEFAULT '1970-01-01 00:00:00.000'
    CONSTRAINT expires_at_is_a_time CHECK (
      strftime('%Y-%m-%d %H:%M:%f', expires_at) IS expires_at),
  -- Length of the last grant or renewal, in microseconds: so the holder's last sign of life
  -- was that long before expires_at.
  ttl_us        INTEGER,
  -- Name that the last holder's own logs have for its work.
  correlation_id TEXT
    CONSTRAINT correlation_id_is_short CHECK (length(CAST(correlation_id AS BLOB)) <= 128),
  -- Time at which the row was last given up.
  ended_at      TEXT
    CONSTRAINT ended_at_is_a_time CHECK (ended_at GLOB '????-??-?? ??:??:??.???'),
  -- How it was given up: released, failed, forced, ran out; by a transaction: locked, committed.
  ended_as      TEXT,
  -- Number of holds that were released after an error.
  failure_count INTEGER NOT NULL DEFAULT 0,
  -- Number of leases that ran out and were taken over.
  expiry_count  INTEGER NOT NULL DEFAULT 0,

  -- Version of the grant under which the work was done that is to be done once.
  done_by       INTEGER
    CONSTRAINT done_by_is_positive CHECK (done_by >= 1),
  -- Time at which that work was done.
  done_at       TEXT
    CONSTRAINT done_at_is_a_time CHECK (done_at GLOB '????-??-?? ??:??:??.???'),
  -- Until then the work is remembered as done.
  done_until    TEXT    NOT NULL DEFAULT '1970-01-01 00:00:00.000'
    CONSTRAINT done_until_is_a_time CHECK (
      strftime('%Y-%m-%d %H:%M:%f', done_until) IS done_until),
  -- Text of a holder for others to read.
  note          TEXT
    CONSTRAINT note_is_short CHECK (length(CAST(note AS BLOB)) <= 1024),
  -- Time at which the row was last taken from its holder by force.
  forced_at     TEXT
    CONSTRAINT forced_at_is_a_time CHECK (forced_at GLOB '????-??-?? ??:??:??.???'),
  -- Holder from which it was taken then.
  forced_from   TEXT
    CONSTRAINT forced_from_is_short CHECK (length(CAST(forced_from AS BLOB)) <= 128),
  -- Reason that was given for it.
  force_reason  TEXT
    CONSTRAINT force_reason_is_short CHECK (length(CAST(force_reason AS BLOB)) <= 1024),
  -- Version of the grant whose holder was last asked to yield.
  asked_version INTEGER,
  -- Time at which it was asked.
  asked_at      TEXT
    CONSTRAINT asked_at_is_a_time CHECK (asked_at GLOB '????-??-?? ??:??:??.???'),
  -- Label of the one that asked.
  asked_by      TEXT
    CONSTRAINT asked_by_is_short CHECK (length(CAST(asked_by AS BLOB)) <= 128),
  -- Reason that was given.
  ask_reason    TEXT
    CONSTRAINT ask_reason_is_short CHECK (length(CAST(ask_reason AS BLOB)) <= 1024),

  PRIMARY KEY (lock_type, source_id),
  CONSTRAINT unowned_is_unset CHECK (
    CASE WHEN owner IS NULL
         THEN holder IS NOT NULL OR expires_at = '1970-01-01 00:00:00.000'
         ELSE holder IS NOT NULL AND acquired_at IS NOT NULL
    END),
  CONSTRAINT done_is_whole CHECK (
    (done_by IS NULL) = (done_until = '1970-01-01 00:00:00.000')
    AND (done_by IS NULL) = (done_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS shared_lock_schema (
  -- Migrations of rowlock that were applied, whatever tool applied them.

  -- Number of the migration.
  number     INTEGER NOT NULL PRIMARY KEY,
  -- Number and name, as its file has them.
  name       TEXT    NOT NULL,
  -- Time at which it was applied.
  applied_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))
) STRICT;

INSERT INTO shared_lock_schema (number, name) VALUES (1, '001_shared_lock')
  ON CONFLICT (number) DO NOTHING;
