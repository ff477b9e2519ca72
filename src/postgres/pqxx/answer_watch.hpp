// A watchdog for connections that get no answer.
#ifndef ROWLOCK_POSTGRES_PQXX_ANSWER_WATCH_HPP
#define ROWLOCK_POSTGRES_PQXX_ANSWER_WATCH_HPP

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace rowlock::postgres {

/// Ends waits for an answer by shutting the socket down, which the waiting thread sees as a lost
/// connection. libpq itself waits as long as the network seems to work. A hanging peer (a pooler, a
/// proxy, a stopped server) still acknowledges every packet.
///
/// Thread-safety: all members may be called from any thread. The watchdog has one thread, started
/// by the first call, which wakes up once per `limit` while calls are made. It must not be
/// destroyed in a child of fork().
class answer_watch {
  using clock = std::chrono::steady_clock;

  struct call {
    int socket = -1;  // a duplicate: the driver may close its own at any time
    clock::time_point due;
  };
  using calls = std::list<call>;

 public:
  /// `limit` must be above zero.
  explicit answer_watch(std::chrono::milliseconds limit);
  answer_watch(const answer_watch&) = delete;
  answer_watch& operator=(const answer_watch&) = delete;
  /// No call may be watched any more.
  ~answer_watch();

  /// One connection, whose driver has `socket` open now.
  ///
  /// Thread-safety: one thread at a time.
  class connection;
  /// A call on a connection, watched while this exists.
  class watched;

 private:
  void run();

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  calls calls_;           // guarded by mutex_; all have the same limit, so the first is due first
  bool is_idle_ = false;  // guarded by mutex_; the thread sleeps until it is woken
  bool stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

class answer_watch::connection {
 public:
  /// Throws `error` (unavailable) if the system has no file descriptor left: a connection that is
  /// not watched may hang.
  connection(answer_watch& by, int socket);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  /// Throws `error` (unavailable) if no thread can be started.
  [[nodiscard]] watched watch();
  /// Ends the current call and all later ones. May be called from any thread.
  void give_up() const noexcept;

 private:
  friend class watched;

  answer_watch& by_;
  calls idle_;  // its one call while it is not watched, so that no call allocates memory
  const int socket_;
};

class answer_watch::watched {
 public:
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  ~watched();

 private:
  friend class connection;
  explicit watched(connection& on);

  connection& on_;
  const calls::iterator place_;
};

}  // namespace rowlock::postgres

#endif
