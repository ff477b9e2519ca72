// pglock's own client with database/sql and lib/pq, and without heartbeats: no lease runs out
// during a measurement.
package main

import (
	"database/sql"
	"errors"
	"log"
	"time"

	"cirello.io/pglock"
	_ "github.com/lib/pq"
	"rowlock/race"
)

func main() {
	options := race.Parsed("ROWLOCK_TEST_POSTGRES")
	database, err := sql.Open("postgres", options.Server+"?sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	database.SetMaxOpenConns(options.Connections)
	database.SetMaxIdleConns(options.Connections)
	execute := func(text string) error {
		_, failed := database.Exec(text)
		return failed
	}
	if err := execute("DROP TABLE IF EXISTS locks"); err != nil {
		log.Fatal(err)
	}
	client, err := pglock.New(database, pglock.WithLeaseDuration(time.Minute), pglock.WithHeartbeatFrequency(0))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.CreateTable(); err != nil {
		log.Fatal(err)
	}
	locks := func() race.Lock {
		return func(key string) (func() error, error) {
			lock, err := client.Acquire(key, pglock.FailIfLocked())
			if errors.Is(err, pglock.ErrNotAcquired) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			return func() error { return client.Release(lock) }, nil
		}
	}
	race.Run(options, locks, func() error { return execute("VACUUM ANALYZE locks") })
	if err := client.DropTable(); err != nil {
		log.Fatal(err)
	}
}
