// promtool, which checks what Prometheus reads, and queries a server.
#include "prometheus/promtool.hpp"

#include "support/child_process.hpp"

namespace rowlock::tests {

promtool_result promtool(const std::vector<std::string>& arguments, const std::string& input) {
  std::vector<std::string> command{ROWLOCK_PROMTOOL};
  command.insert(command.end(), arguments.begin(), arguments.end());
  child_process running{command};
  if (!input.empty()) running.write_line(input);
  running.close_input();
  promtool_result result;
  result.output = running.read_rest();
  result.code = running.wait();
  result.errors = running.errors();
  return result;
}

}  // namespace rowlock::tests
