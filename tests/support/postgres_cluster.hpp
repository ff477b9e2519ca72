// A PostgreSQL server that a test starts, crashes, copies and promotes.
#ifndef ROWLOCK_TESTS_SUPPORT_POSTGRES_CLUSTER_HPP
#define ROWLOCK_TESTS_SUPPORT_POSTGRES_CLUSTER_HPP

#include <memory>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/server_user.hpp"

namespace rowlock::tests {

/// Its data and its socket are in a temporary folder, and it listens nowhere else. The folder is
/// gone after the test, and so is the server, even if the test is killed.
///
/// Thread-safety: one thread at a time, the one that lives longest.
class postgres_cluster {
 public:
  /// With the superuser `tester` and the database `postgres`. Does not run yet.
  postgres_cluster();
  /// A copy of a running server, which will follow it. Does not run yet.
  static std::unique_ptr<postgres_cluster> standby_of(const postgres_cluster& primary);
  postgres_cluster(const postgres_cluster&) = delete;
  postgres_cluster& operator=(const postgres_cluster&) = delete;
  ~postgres_cluster();

  /// With settings such as `fsync=off`. Returns once clients are served, or are refused for good.
  void start(const std::vector<std::string>& settings = {});
  /// Commits that were not flushed are gone, as if the power had failed. Returns when every process
  /// of the server has ended.
  void crash();
  /// As `kill -9` of its first process. Returns when all of them have ended.
  void kill();
  /// The beginning of an orderly end, which waits for the clients (SIGTERM) or throws them out
  /// (SIGINT). Returns at once.
  void begin_to_stop(int signal) const;

  /// The folder of its socket, as libpq's `host`.
  [[nodiscard]] std::string host() const { return folder_.path(); }
  [[nodiscard]] std::string url() const;

 private:
  struct empty_folder {};
  explicit postgres_cluster(empty_folder /*no cluster in it*/) {}

  [[nodiscard]] std::string data() const { return folder_.path() / "data"; }
  /// The state that the server writes into its pid file; empty before.
  [[nodiscard]] std::string status() const;

  server_folder folder_;
  std::unique_ptr<child_process> process_;
};

}  // namespace rowlock::tests

#endif
