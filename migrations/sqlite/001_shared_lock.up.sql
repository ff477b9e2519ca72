-- rowlock 001: the lock table, one row per key; a release unsets the row and never deletes it.
-- Apply it in one transaction. It can be applied again where one of its tables is lost. Needs SQLite
-- 3.37.
--
-- Times are UTC text 'YYYY-MM-DD HH:MM:SS.SSS', so that they are ordered as they read. A lease is
-- live while expires_at > now; a row is unowned when owner is null. An unowned row with
-- expires_at > now was released to stay closed until then: nobody is granted it.

CREATE TABLE IF NOT EXISTS shared_lock (
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
  -- 1 to 255 bytes of UTF-8 without NUL.
  source_id     TEXT    NOT NULL
    CONSTRAINT source_id_is_valid CHECK (
      instr(source_id, char(0)) = 0
      AND length(CAST(source_id AS BLOB)) BETWEEN 1 AND 255),
  -- Moves at every grant and every release, and only rises: max(version + 1, now in microseconds).
  -- The limit is far beyond every clock, and leaves room above it.
  version       INTEGER NOT NULL
    CONSTRAINT version_is_positive CHECK (version BETWEEN 1 AND 8999999999999999999),
  -- 32 hexadecimal digits, or null: nobody's. Who knows it can release the row.
  owner         TEXT
    CONSTRAINT owner_is_valid CHECK (length(owner) = 32 AND owner NOT GLOB '*[^0-9a-f]*'),
  -- Who holds it, for people. Of an unowned row: who had it last, unless a transaction did since.
  holder        TEXT
    CONSTRAINT holder_is_short CHECK (length(CAST(holder AS BLOB)) <= 128),
  acquired_at   TEXT
    CONSTRAINT acquired_at_is_a_time CHECK (acquired_at GLOB '????-??-?? ??:??:??.???'),
  expires_at    TEXT    NOT NULL DEFAULT '1970-01-01 00:00:00.000'
    CONSTRAINT expires_at_is_a_time CHECK (
      strftime('%Y-%m-%d %H:%M:%f', expires_at) IS expires_at),
  -- How long the last grant or renewal was for: so the holder's last sign of life was that long
  -- before expires_at.
  ttl_us        INTEGER,
  -- What the last holder calls its work in its own logs.
  correlation_id TEXT
    CONSTRAINT correlation_id_is_short CHECK (length(CAST(correlation_id AS BLOB)) <= 128),
  -- When and how the row was last given up: by its holder ('released', 'failed'), by force ('forced'),
  -- because its lease had run out ('ran out'); or when a transaction had it ('locked', 'committed').
  ended_at      TEXT
    CONSTRAINT ended_at_is_a_time CHECK (ended_at GLOB '????-??-?? ??:??:??.???'),
  ended_as      TEXT,
  -- Callbacks that failed.
  failure_count INTEGER NOT NULL DEFAULT 0,
  -- Leases that ran out and were taken over.
  expiry_count  INTEGER NOT NULL DEFAULT 0,

  -- Work that is remembered as done: the version of the grant under which it was done, and when.
  done_by       INTEGER
    CONSTRAINT done_by_is_positive CHECK (done_by >= 1),
  done_at       TEXT
    CONSTRAINT done_at_is_a_time CHECK (done_at GLOB '????-??-?? ??:??:??.???'),
  -- How long it is remembered.
  done_until    TEXT    NOT NULL DEFAULT '1970-01-01 00:00:00.000'
    CONSTRAINT done_until_is_a_time CHECK (
      strftime('%Y-%m-%d %H:%M:%f', done_until) IS done_until),
  -- What a holder has written for others to read.
  note          TEXT
    CONSTRAINT note_is_short CHECK (length(CAST(note AS BLOB)) <= 1024),
  -- When the row was last taken from its holder by force, from whom, and why.
  forced_at     TEXT
    CONSTRAINT forced_at_is_a_time CHECK (forced_at GLOB '????-??-?? ??:??:??.???'),
  forced_from   TEXT
    CONSTRAINT forced_from_is_short CHECK (length(CAST(forced_from AS BLOB)) <= 128),
  force_reason  TEXT
    CONSTRAINT force_reason_is_short CHECK (length(CAST(force_reason AS BLOB)) <= 1024),

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

-- One row for each migration that was applied, whatever tool applied it.
CREATE TABLE IF NOT EXISTS shared_lock_schema (
  number     INTEGER NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  applied_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now'))
) STRICT;

INSERT INTO shared_lock_schema (number, name) VALUES (1, '001_shared_lock')
  ON CONFLICT (number) DO NOTHING;
