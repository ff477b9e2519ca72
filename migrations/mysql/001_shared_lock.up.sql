-- rowlock 001: the lock table, one row per key; a release unsets the row and never deletes it.
-- For MariaDB from 10.6 and MySQL from 8.0.19.
--
-- No transaction: these servers commit at each CREATE TABLE. So it can be run again, after it was
-- interrupted too: what is there stays.
--
-- Times are UTC, whatever the session's time zone. A lease is live while expires_at is after
-- UTC_TIMESTAMP(6); a row is unowned when owner is null. An unowned row stays closed while its
-- expires_at is after that time: it is granted to no caller.
--
-- Texts have room for one byte more than they may have: so a session that cuts what is too long
-- (sql_mode without STRICT_ALL_TABLES) is refused by the CHECK, and no value becomes another one.

CREATE TABLE IF NOT EXISTS shared_lock (
  -- [scope/]type[#number]: scope and type 1 to 64 bytes of A-Z a-z 0-9 _ . : -, the number of a row
  -- that is one of several of its key 1 to 4 digits.
  lock_type     varchar(135) CHARACTER SET ascii COLLATE ascii_bin NOT NULL
    COMMENT 'Type of the key: type or scope/type; with #number one of several rows of a key'
    CHECK (lock_type NOT REGEXP '[^A-Za-z0-9_.:/#-]'
           AND lock_type REGEXP '^([^/#]{1,64}/)?[^/#]{1,64}(#[0-9]{1,4})?$'),
  -- 1 to 255 bytes of UTF-8 without NUL. Binary: compared byte by byte, blanks at the end too.
  source_id     varbinary(256) NOT NULL
    COMMENT 'Id of the key within its type'
    CHECK (length(source_id) BETWEEN 1 AND 255 AND locate(X'00', source_id) = 0),
  -- greatest(version + 1, now in microseconds). The limit is far beyond every clock, and leaves room
  -- above it.
  version       bigint NOT NULL
    COMMENT 'Rises at every grant, release and row lock; that of a grant is its fencing token'
    CHECK (version BETWEEN 1 AND 8999999999999999999),
  -- 32 hexadecimal digits.
  owner         varchar(33) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'Secret of the lease that has the key, null if none; it can renew and release: show holder instead'
    CHECK (length(owner) = 32 AND owner NOT REGEXP '[^0-9a-f]'),
  holder        varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Holder of the last grant, for people to read; null once a transaction has used the row'
    CHECK (length(holder) <= 128),
  acquired_at   datetime(6) NULL
    COMMENT 'Time of the last grant; null once a transaction has used the row',
  expires_at    datetime(6) NOT NULL DEFAULT '1970-01-01 00:00:00'
    COMMENT 'Time at which the lease runs out; until then an unowned row is granted to no one',
  -- So the holder's last sign of life was at expires_at - INTERVAL ttl_us MICROSECOND.
  ttl_us        bigint NULL
    COMMENT 'Length of the last grant or renewal, in microseconds',
  correlation_id varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Name that the last holder''s own logs have for its work'
    CHECK (length(correlation_id) <= 128),
  ended_at      datetime(6) NULL
    COMMENT 'Time at which the row was last given up',
  ended_as      varchar(10) CHARACTER SET ascii COLLATE ascii_bin NULL
    COMMENT 'How it was given up: released, failed, forced, ran out; by a transaction: locked, committed',
  done_by       bigint NULL
    COMMENT 'Version of the grant under which the work was done that is to be done once',
  done_at       datetime(6) NULL
    COMMENT 'Time at which that work was done',
  done_until    datetime(6) NOT NULL DEFAULT '1970-01-01 00:00:00'
    COMMENT 'Until then the work is remembered as done',
  note          varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Text of a holder for others to read'
    CHECK (length(note) <= 1024),
  forced_at     datetime(6) NULL
    COMMENT 'Time at which the row was last taken from its holder by force',
  forced_from   varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Holder from which it was taken then'
    CHECK (length(forced_from) <= 128),
  force_reason  varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Reason that was given for it'
    CHECK (length(force_reason) <= 1024),
  asked_version bigint NULL
    COMMENT 'Version of the grant whose holder was last asked to yield',
  asked_at      datetime(6) NULL
    COMMENT 'Time at which it was asked',
  asked_by      varchar(129) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Label of the one that asked'
    CHECK (length(asked_by) <= 128),
  ask_reason    varchar(1025) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
    COMMENT 'Reason that was given'
    CHECK (length(ask_reason) <= 1024),
  failure_count bigint NOT NULL DEFAULT 0
    COMMENT 'Number of holds that were released after an error',
  expiry_count  bigint NOT NULL DEFAULT 0
    COMMENT 'Number of leases that ran out and were taken over',
  -- It is there to be changed by the fence, and so that a user that only fences can be granted UPDATE of
  -- this column alone.
  fence_count   bigint NOT NULL DEFAULT 0
    COMMENT 'Number of fences of transactions',

  PRIMARY KEY (lock_type, source_id),
  -- Not CASE, which MySQL does not take for a condition.
  CHECK (
    (owner IS NULL AND (holder IS NOT NULL OR expires_at = '1970-01-01 00:00:00'))
    OR (owner IS NOT NULL AND holder IS NOT NULL AND acquired_at IS NOT NULL)),
  CHECK (done_until = '1970-01-01 00:00:00' OR (done_by IS NOT NULL AND done_at IS NOT NULL))
) ENGINE = InnoDB STATS_PERSISTENT = 0
  COMMENT = 'Locks of rowlock, one row per key; a release never deletes a row';

CREATE TABLE IF NOT EXISTS shared_lock_schema (
  number     int NOT NULL PRIMARY KEY
    COMMENT 'Number of the migration',
  name       varchar(64) CHARACTER SET ascii NOT NULL
    COMMENT 'Number and name, as its file has them',
  applied_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    COMMENT 'Time at which it was applied'
) ENGINE = InnoDB
  COMMENT = 'Migrations of rowlock that were applied, whatever tool applied them';

INSERT INTO shared_lock_schema (number, name) VALUES (1, '001_shared_lock')
  ON DUPLICATE KEY UPDATE applied_at = applied_at;
