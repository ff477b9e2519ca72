// A listener for notifications of releases and grants, on a separate connection.
#ifndef ROWLOCK_POSTGRES_PQXX_NOTIFY_HPP
#define ROWLOCK_POSTGRES_PQXX_NOTIFY_HPP

#include <mutex>
#include <string>
#include <thread>

#include "postgres/pqxx/answer_watch.hpp"
#include "postgres/pqxx/connection.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// A thread that listens. After a failure of its connection it pauses, and connects again. It gives
/// up a connection that is the last one of its role, its database or its server, and tries again
/// after the longest pause: a wait works without notifications, and nothing without a connection.
class notify_listener final : public subscription {
 public:
  /// `channel_sql` is the query for the channel's name. `answers` must outlive the listener.
  notify_listener(connector make, std::string channel_sql, release_listener& listener,
                  answer_watch& answers);
  notify_listener(const notify_listener&) = delete;
  notify_listener& operator=(const notify_listener&) = delete;
  /// Waits for a connection attempt that is under way, but not for an answer.
  ~notify_listener() override;

 private:
  /// The connection that the destructor shuts down, registered while this exists.
  class open_connection;

  void run();
  /// Listens until the end. Throws when the connection fails or is the last one.
  void listen();
  /// Waits until `socket` is readable or the time is over; false at the end.
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
