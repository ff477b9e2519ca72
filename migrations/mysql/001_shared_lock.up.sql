-- rowlock 001: the lock table, one row per key; a release unsets the row and never deletes it.
-- For MariaDB from 10.6 and MySQL from 8.0.19. Each CREATE TABLE commits by itself, so this can be
-- run again after it was interrupted.
--
-- Times are UTC, whatever the session's time zone. A lease is live while expires_at is after
-- UTC_TIMESTAMP(6); a row is unowned when owner is null. An unowned row stays closed while its
-- expires_at is after that time: nobody is granted it.
--
-- Texts have room for one byte more than they may have: so a session that cuts what is too long
-- (sql_mode without STRICT_ALL_TABLES) is refused by the CHECK, and no value becomes another one.

CREATE TABLE IF NOT EXISTS shared_lock (
  -- [scope/]type[#number]: scope and type 1 to 64 bytes of A-Z a-z 0-9 _ . : -, the number of a row
  -- that is one of several of its key 1 to 4 digits.
  lock_type     varchar(135) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
    CHECK (lock_type NOT REGEXP '[^A-Za-z0-9_.:/#-]'
           AND lock_type REGEXP '^([^/#]{1,64}/)?[^/#]{1,64}(#[0-9]{1,4})?$'),
  -- 1 to 255 bytes of UTF-8 without NUL. Binary: compared byte by byte, blanks at the end too.
  source_id     varbinary(256) NOT NULL
    CHECK (length(source_id) BETWEEN 1 AND 255 AND locate(X'00', source_id) = 0),
  -- Moves at every grant and every release, and only rises: greatest(version + 1, now in
  -- microseconds). The limit is far beyond every clock, and leaves room above it.
  version       bigint NOT NULL CHECK (version BETWEEN 1 AND 8999999999999999999),
  -- 32 hexadecimal digits, or null: nobody's. Who knows it can release the row.
  owner         varchar(33) CHARACTER SET ascii COLLATE ascii_bin NULL
    CHECK (length(owner) = 32 AND owner NOT REGEXP '[^0-9a-f]'),
  -- Who holds it, for people. Of an unowned row: who had it last, unless a transaction did since.
  holder        varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    CHECK (length(holder) <= 128),
  acquired_at   datetime(6) NULL,
  expires_at    datetime(6) NOT NULL DEFAULT '1970-01-01 00:00:00',
  -- How long the last grant or renewal was for: so the holder's last sign of life was at
  -- expires_at - INTERVAL ttl_us MICROSECOND.
  ttl_us        bigint NULL,
  -- What the last holder calls its work in its own logs.
  correlation_id varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    CHECK (length(correlation_id) <= 128),
  -- When and how the row was last given up: by its holder ('released', 'failed'), by force ('forced'),
  -- because its lease had run out ('ran out'); or when a transaction had it ('locked', 'committed').
  ended_at      datetime(6) NULL,
  ended_as      varchar(10) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The version of the grant under which work was done that is to be done once, and when that was.
  -- It is remembered while done_until is after the time now.
  done_by       bigint NULL,
  done_at       datetime(6) NULL,
  done_until    datetime(6) NOT NULL DEFAULT '1970-01-01 00:00:00',
  -- What a holder has written for others to read.
  note          varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    CHECK (length(note) <= 1024),
  -- When the row was last taken from its holder by force, from whom, and why.
  forced_at     datetime(6) NULL,
  forced_from   varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    CHECK (length(forced_from) <= 128),
  force_reason  varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    CHECK (length(force_reason) <= 1024),
  -- Callbacks that failed.
  failure_count bigint NOT NULL DEFAULT 0,
  -- Leases that ran out and were taken over.
  expiry_count  bigint NOT NULL DEFAULT 0,
  -- How often a transaction was fenced. It is there to be changed by the fence, and so that a user
  -- that only fences can be granted UPDATE of this column alone.
  fence_count   bigint NOT NULL DEFAULT 0,

  PRIMARY KEY (lock_type, source_id),
  -- Not CASE, which MySQL does not take for a condition.
  CHECK (
    (owner IS NULL AND (holder IS NOT NULL OR expires_at = '1970-01-01 00:00:00'))
    OR (owner IS NOT NULL AND holder IS NOT NULL AND acquired_at IS NOT NULL)),
  CHECK (done_until = '1970-01-01 00:00:00' OR (done_by IS NOT NULL AND done_at IS NOT NULL))
) ENGINE = InnoDB STATS_PERSISTENT = 0;

-- One row for each migration that was applied, whatever tool applied it.
CREATE TABLE IF NOT EXISTS shared_lock_schema (
  number     int NOT NULL PRIMARY KEY,
  name       varchar(64) CHARACTER SET ascii NOT NULL,
  applied_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
) ENGINE = InnoDB;

INSERT INTO shared_lock_schema (number, name) VALUES (1, '001_shared_lock')
  ON DUPLICATE KEY UPDATE applied_at = applied_at;
