-- rowlock 001: the lock table, one row per key; a release unsets the row and never deletes it.
--
-- One statement, and so one transaction: all of it is applied, or nothing. Where it was applied already,
-- it changes nothing.

DO $migration$
BEGIN

IF to_regclass('shared_lock_schema') IS NULL THEN
  CREATE TABLE shared_lock_schema (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  COMMENT ON TABLE shared_lock_schema IS 'Migrations of rowlock that were applied, whatever tool applied them';
  COMMENT ON COLUMN shared_lock_schema.number IS 'Number of the migration';
  COMMENT ON COLUMN shared_lock_schema.name IS 'Number and name, as its file has them';
  COMMENT ON COLUMN shared_lock_schema.applied_at IS 'Time at which it was applied';
END IF;

INSERT INTO shared_lock_schema (number, name) VALUES (1, '001_shared_lock') ON CONFLICT DO NOTHING;

-- It was applied already. What cleans up after tests may have deleted the record of that.
IF to_regclass('shared_lock') IS NOT NULL THEN
  RETURN;
END IF;

-- What may stand in the table's columns. Domains, because PostgreSQL looks at a domain only where a
-- statement writes such a column, and at a CHECK of the table, which it reads anew for each
-- statement, at every update. What every grant and release writes has none: they were a tenth of the
-- server's work for a pair. There a statement written by hand keeps the rules: a version is above zero,
-- an owner has 32 hexadecimal digits, a holder at most 128 bytes, and expires_at is finite.

-- A type, `scope/type`, a type within a scope, or `type#n`, one of several rows that belong together;
-- scope and type have 64 bytes at most. (No bounds in the regular expression but the last: with them
-- it takes ten times as long.)
CREATE DOMAIN shared_lock_type AS text COLLATE "C"
  CONSTRAINT lock_type_is_valid CHECK (
    VALUE ~ '^([A-Za-z0-9_.:-]+/)?[A-Za-z0-9_.:-]+(#[0-9]{1,4})?$'
    AND octet_length(split_part(split_part(VALUE, '#', 1), '/', 1)) <= 64
    AND octet_length(split_part(split_part(VALUE, '#', 1), '/', 2)) <= 64);

CREATE DOMAIN shared_lock_id AS text COLLATE "C"
  CONSTRAINT has_1_to_255_bytes CHECK (octet_length(VALUE) BETWEEN 1 AND 255);

CREATE DOMAIN shared_lock_time AS timestamptz
  CONSTRAINT is_finite CHECK (isfinite(VALUE));

CREATE DOMAIN shared_lock_note AS text
  CONSTRAINT has_at_most_1024_bytes CHECK (octet_length(VALUE) <= 1024);

-- Rules about several columns are left to the statements, as only a CHECK of the table could hold
-- them: a statement written by hand sets `holder` and `acquired_at` wherever it sets `owner`;
-- `ended_at` and `ended_as` together, `done_by` and `done_at` together; and no count below zero.
CREATE TABLE shared_lock (
  lock_type     shared_lock_type NOT NULL,
  source_id     shared_lock_id NOT NULL,
  -- Of an update PostgreSQL logs all bytes between the first and the last that it changes. So what a grant
  -- and a release change, ended_at to owner, stands together, and texts stand behind all columns that are
  -- aligned.
  failure_count bigint NOT NULL DEFAULT 0,
  expiry_count  bigint NOT NULL DEFAULT 0,
  -- It is there to be changed by the fence, and so that a role that only fences can be granted UPDATE of
  -- this column alone.
  fence_count   bigint NOT NULL DEFAULT 0,
  waiting_until timestamptz NOT NULL DEFAULT 'epoch',
  done_by       bigint,
  done_at       timestamptz,
  done_until    shared_lock_time NOT NULL DEFAULT 'epoch',
  forced_at     timestamptz,
  asked_version bigint,
  asked_at      timestamptz,
  -- So the holder's last sign of life was at expires_at - ttl_us * interval '1 microsecond'.
  ttl_us        bigint,
  ended_at      timestamptz,
  version       bigint NOT NULL,
  -- Free is: not after clock_timestamp().
  expires_at    timestamptz NOT NULL DEFAULT 'epoch',
  acquired_at   timestamptz,
  owner         text COLLATE "C",
  holder        text,
  correlation_id text,
  ended_as      text,
  note          shared_lock_note,
  forced_from   text,
  force_reason  shared_lock_note,
  asked_by      text,
  ask_reason    shared_lock_note,
  -- No other index, ever: with one on a column that changes no update could stay in its page (HOT).
  PRIMARY KEY (lock_type, source_id)
) USING heap WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);

COMMENT ON TABLE shared_lock IS 'Locks of rowlock, one row per key; a release never deletes a row';
COMMENT ON COLUMN shared_lock.lock_type IS
  'Type of the key: type or scope/type; with #number one of several rows of a key';
COMMENT ON COLUMN shared_lock.source_id IS
  'Id of the key within its type';
COMMENT ON COLUMN shared_lock.version IS
  'Rises at every grant, release and row lock; that of a grant is its fencing token';
COMMENT ON COLUMN shared_lock.owner IS
  'Secret of the lease that has the key, null if none; it can renew and release: show holder instead';
COMMENT ON COLUMN shared_lock.holder IS
  'Holder of the last grant, for people to read; null once a transaction has used the row';
COMMENT ON COLUMN shared_lock.acquired_at IS
  'Time of the last grant; null once a transaction has used the row';
COMMENT ON COLUMN shared_lock.expires_at IS
  'Time at which the lease runs out; until then an unowned row is granted to no one';
COMMENT ON COLUMN shared_lock.ttl_us IS
  'Length of the last grant or renewal, in microseconds';
COMMENT ON COLUMN shared_lock.correlation_id IS
  'Name that the last holder''s own logs have for its work';
COMMENT ON COLUMN shared_lock.ended_at IS
  'Time at which the row was last given up';
COMMENT ON COLUMN shared_lock.ended_as IS
  'How it was given up: released, failed, forced, ran out; by a transaction: locked, committed';
COMMENT ON COLUMN shared_lock.failure_count IS
  'Number of holds that were released after an error';
COMMENT ON COLUMN shared_lock.expiry_count IS
  'Number of leases that ran out and were taken over';
COMMENT ON COLUMN shared_lock.fence_count IS
  'Number of fences of transactions';
COMMENT ON COLUMN shared_lock.waiting_until IS
  'Until then a process waits for the row, and its release is announced';
COMMENT ON COLUMN shared_lock.done_by IS
  'Version of the grant under which the work was done that is to be done once';
COMMENT ON COLUMN shared_lock.done_at IS
  'Time at which that work was done';
COMMENT ON COLUMN shared_lock.done_until IS
  'Until then the work is remembered as done';
COMMENT ON COLUMN shared_lock.note IS
  'Text of a holder for others to read';
COMMENT ON COLUMN shared_lock.forced_at IS
  'Time at which the row was last taken from its holder by force';
COMMENT ON COLUMN shared_lock.forced_from IS
  'Holder from which it was taken then';
COMMENT ON COLUMN shared_lock.force_reason IS
  'Reason that was given for it';
COMMENT ON COLUMN shared_lock.asked_version IS
  'Version of the grant whose holder was last asked to yield';
COMMENT ON COLUMN shared_lock.asked_at IS
  'Time at which it was asked';
COMMENT ON COLUMN shared_lock.asked_by IS
  'Label of the one that asked';
COMMENT ON COLUMN shared_lock.ask_reason IS
  'Reason that was given';

-- These functions run in the application's transactions, in which no statement is prepared: PostgreSQL keeps
-- the plans of a function's statements for the session.

-- Locks a row in the caller's transaction if it is there and free, and no other transaction has it or waits
-- for it. Returns its new version, or null if it is not locked: then nothing is locked or changed, and
-- shared_lock_lock says why, waits, or creates the row. Parameters as there.
CREATE FUNCTION shared_lock_try(p_type text, p_id text, p_skew_ms integer DEFAULT 0)
  RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  queue bigint;
  moved bigint;
BEGIN
  -- It does not overtake those who wait, unless it has a row that they may wait for.
  IF pg_current_xact_id_if_assigned() IS NULL THEN
    queue := hashtextextended(p_id, hashtextextended(p_type, 'shared_lock'::regclass::bigint));
    IF NOT (CASE WHEN pg_try_advisory_lock(queue) THEN pg_advisory_unlock(queue) ELSE false END) THEN
      RETURN NULL;
    END IF;
  END IF;
  UPDATE shared_lock l
     SET version = greatest(l.version + 1, (date_part('epoch', clock_timestamp()) * 1000000)::bigint),
         owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
         ended_at = clock_timestamp(), ended_as = 'locked',
         expiry_count = l.expiry_count + (l.owner IS NOT NULL)::integer
   WHERE l.ctid = (SELECT ctid
                     FROM shared_lock
                    WHERE lock_type = p_type AND source_id = p_id
                      AND expires_at <= clock_timestamp() - p_skew_ms * interval '1 millisecond'
                      FOR UPDATE SKIP LOCKED)
     AND l.lock_type = p_type AND l.source_id = p_id
  RETURNING l.version INTO moved;
  -- A row that a grant changes between the search and the lock is locked, and not written: undo that.
  IF moved IS NULL THEN RAISE lock_not_available; END IF;
  RETURN moved;
EXCEPTION
  WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
    RETURN NULL;
END $$;

-- Proves in the caller's transaction that a lease is still held: locks its row until the transaction ends.
-- Returns the row's version, that of the release if it is released, or null if it is not fenced: the row
-- is not that of the lease, or another transaction has it. Does not wait. A row that another lease takes
-- while this looks for it may stay locked: a caller that is refused ends its transaction.
--
--   p_version  that of the lease
--   p_idle     how long the transaction may be idle from then on, such as 10000ms; a smaller limit stays
--   p_action   `write` changes the row, which no other transaction can miss; `share` locks it against a
--              takeover and changes nothing; `release` releases the lease when the transaction commits
CREATE FUNCTION shared_lock_fence(p_type text, p_id text, p_version bigint, p_idle text, p_action text)
  RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  fenced bigint;
BEGIN
  -- Set before the row is locked: a row that a renewal changes meanwhile is locked, and not fenced.
  IF current_setting('idle_in_transaction_session_timeout')::interval
     NOT BETWEEN interval '1 microsecond' AND p_idle::interval
  THEN
    PERFORM set_config('idle_in_transaction_session_timeout', p_idle, true);
  END IF;
  IF p_action = 'write' THEN
    UPDATE shared_lock
       SET fence_count = fence_count + 1
     WHERE ctid = (SELECT ctid
                     FROM shared_lock
                    WHERE lock_type = p_type AND source_id = p_id
                      AND version = p_version AND owner IS NOT NULL
                      FOR NO KEY UPDATE SKIP LOCKED)
       AND lock_type = p_type AND source_id = p_id
    RETURNING version INTO fenced;
  ELSIF p_action = 'share' THEN
    SELECT version INTO fenced
      FROM shared_lock
     WHERE lock_type = p_type AND source_id = p_id AND version = p_version AND owner IS NOT NULL
       FOR SHARE SKIP LOCKED;
  ELSIF p_action = 'release' THEN
    UPDATE shared_lock
       SET owner = NULL, expires_at = 'epoch',
           version = greatest(version + 1, (date_part('epoch', clock_timestamp()) * 1000000)::bigint),
           ended_at = clock_timestamp(), ended_as = 'released'
     WHERE ctid = (SELECT ctid
                     FROM shared_lock
                    WHERE lock_type = p_type AND source_id = p_id
                      AND version = p_version AND owner IS NOT NULL
                      FOR NO KEY UPDATE SKIP LOCKED)
       AND lock_type = p_type AND source_id = p_id
    RETURNING version INTO fenced;
  ELSE
    RAISE 'p_action is write, share or release, not %', p_action;
  END IF;
  RETURN fenced;
END $$;

-- Locks rows in the caller's transaction: all of them, or none.
--
--   p_types, p_ids  the keys, each once, in the byte order of (type, id)
--   p_wait_ms       how long to wait for the transactions of others; 0: not at all
--   p_create        whether to create missing rows; if not, they are reported
--   p_skew_ms       how long ago a lease must have run out; above 0 where servers have clocks of
--                   their own
--
-- All locked: one row per key, in order, with state `locked` and the new version. Otherwise nothing
-- is locked or changed, and there is one row for each key that was in the way: `leased` (holder and
-- remaining_us say by whom and how long), `busy` (another transaction has it), `missing`, or a single
-- row `stale`: a transaction at REPEATABLE READ or above that must start again.
--
-- A refusal is no error: the caller's transaction goes on, its lock_timeout is as before, and the
-- server logs nothing. Each attempt is a savepoint, so a refused one keeps no row locked.
CREATE FUNCTION shared_lock_lock(p_types text[], p_ids text[], p_wait_ms integer, p_create boolean,
                                 p_skew_ms integer DEFAULT 0)
  RETURNS TABLE (state text, lock_type text, source_id text,
                 version bigint, holder text, remaining_us bigint)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  -- v_, as the table may have columns that its users have added.
  v_callers_timeout CONSTANT text := current_setting('lock_timeout');
  v_skew CONSTANT interval := p_skew_ms * interval '1 millisecond';
  -- A statement_timeout would end the caller's transaction, so the answer comes well before it.
  v_deadline CONSTANT timestamptz := clock_timestamp() + least(
    p_wait_ms * interval '1 millisecond',
    nullif(current_setting('statement_timeout')::interval, interval '0') / 2);
  -- A transaction without an id has changed and locked no row, so no row lock waits for it, and it
  -- keeps its place in the queue for the whole wait. Any other gives its place up before
  -- deadlock_timeout.
  v_has_nothing CONSTANT boolean := pg_current_xact_id_if_assigned() IS NULL;
  v_longest_slice CONSTANT numeric := CASE WHEN v_has_nothing THEN p_wait_ms ELSE
    extract(epoch FROM current_setting('deadlock_timeout')::interval) * 900 END;
  -- As a condition on the place of a key, which holds for all, it makes PostgreSQL expect one key and search
  -- its row by the primary key. For ten it would read the whole of a table of some hundred rows.
  v_most_keys CONSTANT integer := 1000000000;
  -- The gates of more missing keys than this are not held.
  v_most_gates CONSTANT integer := 16;
  v_locked bigint[] := '{}';  -- places of keys in p_types and p_ids
  v_awaited bigint;           -- the place of the first key in the way
  v_has_awaited boolean;
  v_is_hidden boolean;        -- it has no row that can be locked, and no transaction is in the way
  v_queue bigint;             -- the gate of the awaited key, where those queue who wait for it
  v_has_queue boolean;
  v_existing bigint;
  v_created bigint;
  v_is_hopeless boolean;
  v_done text;
BEGIN
  LOOP
    BEGIN
      v_has_awaited := false;
      v_is_hidden := false;
      IF v_awaited IS NOT NULL THEN
        -- One at a time waits for the row. The others wait for that one's transaction, in the order
        -- in which they came: each lock makes the row another tuple, where its queue would form anew.
        v_queue := hashtextextended(
          p_ids[v_awaited], hashtextextended(p_types[v_awaited], 'shared_lock'::regclass::bigint));
        v_done := set_config('lock_timeout', greatest(1, ceil(least(v_longest_slice,
          extract(epoch FROM v_deadline - clock_timestamp()) * 1000)))::text, true);
        PERFORM pg_advisory_xact_lock(v_queue);
        v_done := set_config('lock_timeout', greatest(1, ceil(least(v_longest_slice,
          extract(epoch FROM v_deadline - clock_timestamp()) * 1000)))::text, true);
        PERFORM 1 FROM shared_lock l
          WHERE l.lock_type = p_types[v_awaited] AND l.source_id = p_ids[v_awaited]
            AND l.expires_at <= clock_timestamp() - v_skew
          FOR UPDATE;
        v_has_awaited := FOUND;
        v_is_hidden := NOT FOUND;
        v_done := set_config('lock_timeout', v_callers_timeout, true);
      ELSIF v_has_nothing AND cardinality(p_types) = 1 THEN
        -- A row can be free for a moment while the first of those who wait for it wakes up. (A
        -- transaction that has the row already has an id, and does not queue behind its waiters.)
        v_queue := hashtextextended(
          p_ids[1], hashtextextended(p_types[1], 'shared_lock'::regclass::bigint));
        v_has_queue := NOT CASE WHEN pg_try_advisory_lock(v_queue) THEN pg_advisory_unlock(v_queue)
                              ELSE false END;
        IF v_has_queue THEN RAISE lock_not_available; END IF;
      END IF;

      -- Nothing below waits for longer than a moment, so no caller waits while holding a row of this
      -- attempt but the one awaited.
      IF v_has_awaited AND cardinality(p_types) = 1 THEN
        v_locked := '{1}';
      ELSE
        SELECT coalesce(array_agg(had.place), '{}') INTO v_locked
          FROM (SELECT w.place
                  FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
                  JOIN shared_lock l ON l.lock_type = w.t AND l.source_id = w.s
                 WHERE l.expires_at <= clock_timestamp() - v_skew AND w.place BETWEEN 1 AND v_most_keys
                 ORDER BY l.lock_type, l.source_id
                   FOR UPDATE OF l SKIP LOCKED) AS had;
      END IF;

      IF cardinality(v_locked) < cardinality(p_types) THEN
        SELECT count(*) INTO v_existing
          FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
          JOIN shared_lock l ON l.lock_type = w.t AND l.source_id = w.s
         WHERE w.place BETWEEN 1 AND v_most_keys;
        IF v_existing > cardinality(v_locked) OR NOT p_create THEN RAISE lock_not_available; END IF;

        -- An insert finds the gate of its key free, an advisory lock, and holds it, so that inserters
        -- refuse each other instead of waiting. The gates of many keys would fill the server's lock
        -- table: a call that creates many only looks whether they are free. An insert that meets it
        -- waits for a moment.
        v_done := set_config('lock_timeout', '20', true);
        WITH missing AS MATERIALIZED (
          SELECT w.t, w.s, hashtextextended(
                   w.s, hashtextextended(w.t, 'shared_lock'::regclass::bigint)) AS gate
            FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
           WHERE w.place BETWEEN 1 AND v_most_keys AND NOT EXISTS (SELECT FROM shared_lock l
                              WHERE l.lock_type = w.t AND l.source_id = w.s))
        INSERT INTO shared_lock (lock_type, source_id, version)
        SELECT m.t, m.s, (date_part('epoch', clock_timestamp()) * 1000000)::bigint
          FROM missing m
         WHERE CASE WHEN cardinality(p_types) - v_existing <= v_most_gates
                    THEN pg_try_advisory_xact_lock(m.gate)
                    WHEN pg_try_advisory_lock(m.gate) THEN pg_advisory_unlock(m.gate) END
         ORDER BY m.t COLLATE "C", m.s COLLATE "C"
        ON CONFLICT (lock_type, source_id) DO NOTHING;
        GET DIAGNOSTICS v_created = ROW_COUNT;
        v_done := set_config('lock_timeout', v_callers_timeout, true);
        IF cardinality(v_locked) + v_created < cardinality(p_types) THEN
          RAISE lock_not_available;
        END IF;
      END IF;

      RETURN QUERY
        WITH moved AS (
          UPDATE shared_lock l
             SET version = greatest(l.version + 1,
                                    (date_part('epoch', clock_timestamp()) * 1000000)::bigint),
                 owner = NULL, holder = NULL, acquired_at = NULL, expires_at = 'epoch',
                 ended_at = clock_timestamp(), ended_as = 'locked',
                 expiry_count = l.expiry_count + (l.owner IS NOT NULL)::integer
            FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
           WHERE l.lock_type = w.t AND l.source_id = w.s AND w.place BETWEEN 1 AND v_most_keys
          RETURNING l.lock_type, l.source_id, l.version)
        SELECT 'locked', m.lock_type::text, m.source_id::text, m.version::bigint, NULL::text,
               NULL::bigint
          FROM moved m
         ORDER BY m.lock_type, m.source_id;
      RETURN;
    EXCEPTION
      WHEN lock_not_available OR deadlock_detected THEN
        NULL;  -- the look below says why
      WHEN serialization_failure THEN
        RETURN QUERY SELECT 'stale', p_types[coalesce(v_awaited, 1)], p_ids[coalesce(v_awaited, 1)],
                            NULL::bigint, NULL::text, NULL::bigint;
        RETURN;
    END;

    SELECT min(w.place),
           bool_or(CASE WHEN v_is_hidden AND w.place = v_awaited THEN true
                        WHEN l.lock_type IS NULL THEN NOT p_create
                        ELSE l.expires_at > clock_timestamp() - v_skew END)
      INTO v_awaited, v_is_hopeless
      FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
      LEFT JOIN shared_lock l ON l.lock_type = w.t AND l.source_id = w.s
     WHERE w.place <> ALL (v_locked) AND w.place BETWEEN 1 AND v_most_keys;

    IF v_is_hopeless OR clock_timestamp() >= v_deadline THEN
      RETURN QUERY
        SELECT CASE WHEN l.lock_type IS NULL AND NOT p_create THEN 'missing'
                    WHEN l.expires_at > clock_timestamp() - v_skew THEN 'leased'
                    ELSE 'busy' END,
               w.t, w.s, l.version::bigint,
               CASE WHEN l.expires_at > clock_timestamp() - v_skew THEN l.holder::text END,
               CASE WHEN l.expires_at > clock_timestamp() - v_skew
                    THEN (extract(epoch FROM least('9999-01-01 00:00Z', l.expires_at) + v_skew
                                             - clock_timestamp()) * 1000000)::bigint
                END
          FROM unnest(p_types, p_ids) WITH ORDINALITY AS w(t, s, place)
          LEFT JOIN shared_lock l ON l.lock_type = w.t AND l.source_id = w.s
         WHERE w.place <> ALL (v_locked) AND w.place BETWEEN 1 AND v_most_keys
         ORDER BY w.place;
      RETURN;
    END IF;
  END LOOP;
END $$;

COMMENT ON FUNCTION shared_lock_try(text, text, integer) IS
  'Locks a row that is free in the caller''s transaction, without waiting: its new version, or null';
COMMENT ON FUNCTION shared_lock_fence(text, text, bigint, text, text) IS
  'Proves in the caller''s transaction that a lease is held (write, share), or releases it (release); null if it is not';
COMMENT ON FUNCTION shared_lock_lock(text[], text[], integer, boolean, integer) IS
  'Locks rows in the caller''s transaction: all of them, or none';

END
$migration$;
