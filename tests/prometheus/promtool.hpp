// promtool, which checks what Prometheus reads, and queries a server.
#ifndef ROWLOCK_TESTS_PROMETHEUS_PROMTOOL_HPP
#define ROWLOCK_TESTS_PROMETHEUS_PROMTOOL_HPP

#include <string>
#include <vector>

namespace rowlock::tests {

struct promtool_result {
  int code = 0;
  std::string output;
  std::string errors;
};

/// Runs it to its end, with `input` as its standard input.
promtool_result promtool(const std::vector<std::string>& arguments, const std::string& input = {});

}  // namespace rowlock::tests

#endif
