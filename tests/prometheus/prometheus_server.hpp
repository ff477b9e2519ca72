// A Prometheus server of a test's own.
#ifndef ROWLOCK_TESTS_PROMETHEUS_PROMETHEUS_SERVER_HPP
#define ROWLOCK_TESTS_PROMETHEUS_PROMETHEUS_SERVER_HPP

#include <memory>
#include <string>

#include "support/child_process.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// Listens on a port of 127.0.0.1, keeps its data in a temporary folder, and ends with the test.
class prometheus_server {
 public:
  /// Reads `/metrics` from the port of 127.0.0.1, twice a second. Answers queries when this
  /// returns.
  explicit prometheus_server(int target_port);

  /// Returns once its HTTP API answers the query with one series of this value. Throws, with the
  /// last answer, if that does not come.
  void await(const std::string& query, const std::string& value);
  /// Its exit code after a request to end.
  int stop();

 private:
  void configure(int target_port) const;
  /// False if it cannot listen there, which the process reports by its end.
  bool listens_on(int port);
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  const temp_folder folder_;
  int port_ = 0;
  std::unique_ptr<child_process> process_;
};

}  // namespace rowlock::tests

#endif
