"""The statements of docs/sql.md, as they stand there."""

POSTGRESQL = {
    "acquire": """
WITH granted AS (
  UPDATE shared_lock
     SET owner = :'owner', holder = :'holder', acquired_at = clock_timestamp(),
         version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
         expires_at = clock_timestamp() + :ttl_ms::bigint * interval '1 millisecond',
         ttl_us = :ttl_ms::bigint * 1000, correlation_id = NULL,
         expiry_count = expiry_count + (owner IS NOT NULL)::integer
   WHERE ctid = (SELECT ctid FROM shared_lock
                  WHERE lock_type = :'type' AND source_id = :'source'
                    AND expires_at <= clock_timestamp()
                    FOR NO KEY UPDATE SKIP LOCKED)
     AND lock_type = :'type' AND source_id = :'source'
  RETURNING version),
created AS (
  INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                           ttl_us)
  SELECT :'type', :'source', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
         :'owner', :'holder', clock_timestamp(),
         clock_timestamp() + :ttl_ms::bigint * interval '1 millisecond', :ttl_ms::bigint * 1000
   WHERE NOT EXISTS (SELECT FROM shared_lock WHERE lock_type = :'type' AND source_id = :'source')
  ON CONFLICT (lock_type, source_id) DO NOTHING
  RETURNING version)
SELECT version FROM granted UNION ALL SELECT version FROM created;
""",
    "renew": """
UPDATE shared_lock
   SET expires_at = clock_timestamp() + :ttl_ms::bigint * interval '1 millisecond',
       ttl_us = :ttl_ms::bigint * 1000
 WHERE lock_type = :'type' AND source_id = :'source' AND version = :token AND owner IS NOT NULL;
""",
    "release": """
UPDATE shared_lock
   SET owner = NULL, expires_at = 'epoch', ended_at = clock_timestamp(), ended_as = 'released',
       version = greatest(version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
 WHERE lock_type = :'type' AND source_id = :'source' AND version = :token AND owner IS NOT NULL;
""",
    "fence": """
UPDATE shared_lock
   SET fence_count = fence_count + 1
 WHERE lock_type = :'type' AND source_id = :'source' AND version = :token
   AND owner IS NOT NULL;
""",
}

SQLITE = {
    "acquire": """
INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, acquired_at, expires_at,
                         ttl_us)
VALUES (:type, :source, CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000,
        :owner, :holder, strftime('%Y-%m-%d %H:%M:%f', 'now'),
        strftime('%Y-%m-%d %H:%M:%f', 'now', (:ttl_ms / 1000.0) || ' seconds'), :ttl_ms * 1000)
ON CONFLICT (lock_type, source_id) DO UPDATE
   SET version = max(version + 1, excluded.version), owner = excluded.owner,
       holder = excluded.holder, acquired_at = excluded.acquired_at,
       expires_at = excluded.expires_at, ttl_us = excluded.ttl_us, correlation_id = NULL,
       expiry_count = expiry_count + (owner IS NOT NULL)
 WHERE expires_at <= excluded.acquired_at
RETURNING version;
""",
    "renew": """
UPDATE shared_lock
   SET expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', (:ttl_ms / 1000.0) || ' seconds'),
       ttl_us = :ttl_ms * 1000
 WHERE lock_type = :type AND source_id = :source AND version = :token AND owner IS NOT NULL;
""",
    "release": """
UPDATE shared_lock
   SET owner = NULL, expires_at = '1970-01-01 00:00:00.000',
       ended_at = strftime('%Y-%m-%d %H:%M:%f', 'now'), ended_as = 'released',
       version = max(version + 1,
                     CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000)
 WHERE lock_type = :type AND source_id = :source AND version = :token AND owner IS NOT NULL;
""",
    "fence": """
SELECT count(*) FROM shared_lock
 WHERE lock_type = :type AND source_id = :source AND version = :token AND owner IS NOT NULL;
""",
}
