// A listener for notifications of releases, grants and requests to yield, on a separate connection.
#ifndef ROWLOCK_POSTGRES_NOTIFY_HPP
#define ROWLOCK_POSTGRES_NOTIFY_HPP

#include <chrono>
#include <string>
#include <thread>

#include "postgres/libpq_connection.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// A thread that listens. After a failure of its connection it pauses, and connects again. It gives
/// up a connection that is the last one of its role, its database or its server, and tries again
/// after the longest pause: a wait works without notifications, and nothing without a connection.
class notify_listener final : public subscription {
 public:
  /// `channel_sql` is the query for the channel's name.
  notify_listener(connector make, std::string channel_sql, release_listener& listener,
                  std::chrono::milliseconds longest_answer);
  notify_listener(const notify_listener&) = delete;
  notify_listener& operator=(const notify_listener&) = delete;
  /// Waits for a connection attempt that is under way, but not for an answer.
  ~notify_listener() override;

 private:
  void run();
  /// Listens until the end. Throws when the connection fails or is the last one.
  void listen();
  /// Waits until `socket` is readable or the time is over; false at the end.
  [[nodiscard]] bool wait(int socket, int milliseconds) const;

  const connector make_;
  const std::string channel_sql_;
  release_listener& listener_;
  const std::chrono::milliseconds longest_answer_;
  const int end_;  // an eventfd
  int pause_ms_;   // before the next attempt to connect
  std::thread thread_;
};

}  // namespace rowlock::postgres

#endif
