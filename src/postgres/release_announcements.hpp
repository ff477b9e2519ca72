// Hears of releases on a connection of its own.
#ifndef ROWLOCK_POSTGRES_RELEASE_ANNOUNCEMENTS_HPP
#define ROWLOCK_POSTGRES_RELEASE_ANNOUNCEMENTS_HPP

#include <string>
#include <thread>

#include "postgres/connector.hpp"
#include "rowlock/store.hpp"

namespace rowlock::postgres {

/// A thread that listens, and connects again, after a pause, whenever the connection fails.
class release_announcements final : public subscription {
 public:
  /// `channel_sql` answers the name of the channel.
  release_announcements(connector make, std::string channel_sql, release_listener& listener);
  release_announcements(const release_announcements&) = delete;
  release_announcements& operator=(const release_announcements&) = delete;
  /// Waits for an attempt to connect that is under way.
  ~release_announcements() override;

 private:
  void run();
  /// Until the connection fails, which it throws, or the end.
  void listen();
  /// Until there is something to be read from `socket`, or the time is over; false at the end.
  [[nodiscard]] bool wait(int socket, int milliseconds) const;

  const connector make_;
  const std::string channel_sql_;
  release_listener& listener_;
  const int end_;  // an eventfd
  int pause_ms_;   // before the next attempt to connect
  std::thread thread_;
};

}  // namespace rowlock::postgres

#endif
