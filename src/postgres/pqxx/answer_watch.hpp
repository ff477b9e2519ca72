// Gives up connections on which no answer comes.
#ifndef ROWLOCK_POSTGRES_PQXX_ANSWER_WATCH_HPP
#define ROWLOCK_POSTGRES_PQXX_ANSWER_WATCH_HPP

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace rowlock::postgres {

/// libpq waits for an answer as long as the network seems to work, and something in between that
/// hangs (a pooler, a proxy, a stopped server) acknowledges every packet. This ends such a wait by
/// shutting the socket down, which the waiting thread sees as a lost connection.
///
/// Thread-safety: all members may be called from any thread. It has one thread of its own, started
/// with the first call, which wakes up once per `limit` while calls are made. In a child of fork()
/// it must not be destroyed.
class answer_watch {
  using clock = std::chrono::steady_clock;

  struct call {
    int socket;  // a duplicate: the driver may close its own at any time
    clock::time_point due;
  };
  using calls = std::list<call>;

 public:
  /// A limit above zero.
  explicit answer_watch(std::chrono::milliseconds limit);
  answer_watch(const answer_watch&) = delete;
  answer_watch& operator=(const answer_watch&) = delete;
  /// No call is watched any more.
  ~answer_watch();

  /// One connection, whose driver has `socket` open now.
  ///
  /// Thread-safety: one thread at a time.
  class connection;
  /// A call on a line, while this exists.
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
  connection(answer_watch& by, int socket);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  [[nodiscard]] watched watch();
  /// Ends what is under way, and all that would follow. From any thread.
  void give_up() const noexcept;

 private:
  friend class watched;

  answer_watch& by_;
  const int socket_;
  calls idle_;  // its one call, while none is watched: so that no call takes memory
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
