// Hears of releases on a connection of its own.
#ifndef ROWLOCK_POSTGRES_PQXX_NOTIFY_HPP
#define ROWLOCK_POSTGRES_PQXX_NOTIFY_HPP

#include <mutex>
#include <string>
#include <thread>

#include "postgres/pqxx/answer_watch.hpp"
#include "postgres/pqxx/connection.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// A thread that listens, and connects again, after a pause, whenever the connection fails.
class notify_listener final : public subscription {
 public:
  /// `channel_sql` answers the name of the channel. `answers` must outlive it.
  notify_listener(connector make, std::string channel_sql, release_listener& listener,
                  answer_watch& answers);
  notify_listener(const notify_listener&) = delete;
  notify_listener& operator=(const notify_listener&) = delete;
  /// Waits for an attempt to connect that is under way, and for no answer.
  ~notify_listener() override;

 private:
  /// The connection that the destructor shuts down, while this exists.
  class open_connection;

  void run();
  /// Until the connection fails, which it throws, or the end.
  void listen();
  /// Until there is something to be read from `socket`, or the time is over; false at the end.
  [[nodiscard]] bool wait(int socket, int milliseconds) const;

  const connector make_;
  const std::string channel_sql_;
  release_listener& listener_;
  answer_watch& answers_;
  const int end_;  // an eventfd
  int pause_ms_;   // before the next attempt to connect

  std::mutex mutex_;
  bool is_over_ = false;                            // guarded by mutex_
  const answer_watch::connection* open_ = nullptr;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rowlock::postgres

#endif
