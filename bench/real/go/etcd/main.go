// etcd's own client: the mutex of its package concurrency, in a session of each thread.
package main

import (
	"context"
	"log"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
	"rowlock/race"
)

func main() {
	options := race.Parsed("ROWLOCK_BENCH_ETCD")
	if options.IsRefused {
		log.Fatal("Debian's client for etcd waits for a held key")
	}
	clients := make(chan *clientv3.Client, options.Threads+1)
	connected := func() *clientv3.Client {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{options.Server}, DialTimeout: 5 * time.Second})
		if err != nil {
			log.Fatal(err)
		}
		return client
	}
	// A connection carries the calls of many threads at once.
	for i := 0; i < options.Connections; i++ {
		clients <- connected()
	}
	locks := func() race.Lock {
		client := <-clients
		clients <- client
		session, err := concurrency.NewSession(client, concurrency.WithTTL(60))
		if err != nil {
			log.Fatal(err)
		}
		return func(key string) (func() error, error) {
			mutex := concurrency.NewMutex(session, key)
			if err := mutex.Lock(context.Background()); err != nil {
				return nil, err
			}
			return func() error { return mutex.Unlock(context.Background()) }, nil
		}
	}
	race.Run(options, locks, func() error { return nil })
}
