// Package race measures a lock as rowlock_race does: it takes the arguments that its scenarios use,
// and prints its result in the same way.
package race

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Lock takes a key and returns what releases it; without an error and without a release, the key
// is held by another client.
type Lock func(key string) (release func() error, err error)

// Options are the arguments.
type Options struct {
	Threads     int
	Connections int
	WarmUp      time.Duration
	Length      time.Duration
	IsRefused   bool
	Server      string
}

// Parsed reads the arguments; server names the variable with the address of the server.
func Parsed(server string) Options {
	threads := flag.Int("threads", 1, "")
	connections := flag.Int("connections", 0, "as many as threads")
	warmUp := flag.Int("warm-up-ms", 300, "")
	length := flag.Int("length-ms", 2000, "")
	act := flag.String("act", "pairs", "pairs or refused")
	flag.Parse()
	options := Options{
		Threads:     *threads,
		Connections: *connections,
		WarmUp:      time.Duration(*warmUp) * time.Millisecond,
		Length:      time.Duration(*length) * time.Millisecond,
		IsRefused:   *act == "refused",
		Server:      os.Getenv(server),
	}
	if options.Connections == 0 {
		options.Connections = options.Threads
	}
	return options
}

const (
	warming int32 = iota
	measuring
	over
)

// Run measures; locks makes the lock of one thread, and calmed is called between two warm-ups.
func Run(options Options, locks func() Lock, calmed func() error) {
	var stage int32
	times := make([][]time.Duration, options.Threads)
	var held func() error
	if options.IsRefused {
		held = must(locks()("hot"))
	}
	var running sync.WaitGroup
	for i := range times {
		running.Add(1)
		go func(thread int) {
			defer running.Done()
			lock, key := locks(), fmt.Sprintf("own:%d", thread)
			if options.IsRefused {
				key = "hot"
			}
			for atomic.LoadInt32(&stage) != over {
				counts := atomic.LoadInt32(&stage) == measuring
				begun := time.Now()
				release := must(lock(key))
				if (release == nil) != options.IsRefused {
					log.Fatalf("not as it has to be: %s", key)
				}
				if release != nil {
					check(release())
				}
				if counts && atomic.LoadInt32(&stage) == measuring {
					times[thread] = append(times[thread], time.Since(begun))
				}
			}
		}(i)
	}
	time.Sleep(options.WarmUp)
	check(calmed())
	time.Sleep(options.WarmUp)
	begun := time.Now()
	atomic.StoreInt32(&stage, measuring)
	time.Sleep(options.Length)
	seconds := time.Since(begun).Seconds()
	atomic.StoreInt32(&stage, over)
	running.Wait()
	if held != nil {
		check(held())
	}
	report(options, seconds, times)
}

func report(options Options, seconds float64, times [][]time.Duration) {
	var all []time.Duration
	for _, each := range times {
		all = append(all, each...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	at := func(share float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[int(share*float64(len(all)-1))].Nanoseconds()) / 1000
	}
	check(json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"threads":    options.Threads,
		"seconds":    seconds,
		"per_second": float64(len(all)) / seconds,
		"p50":        at(0.5),
		"p99":        at(0.99),
		"p999":       at(0.999),
	}))
}

func must(release func() error, err error) func() error {
	check(err)
	return release
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
