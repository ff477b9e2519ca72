// What serve answers to each request.
#ifndef ROWLOCK_CLI_SERVE_WEB_REQUESTS_HPP
#define ROWLOCK_CLI_SERVE_WEB_REQUESTS_HPP

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/serve/host_names.hpp"
#include "cli/serve/metrics.hpp"
#include "cli/serve/shared_reads.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// A request without a body, with decoded texts.
struct web_request {
  std::string method;
  std::string path;
  std::multimap<std::string, std::string> parameters;
  /// One for each Host header.
  std::vector<std::string> hosts;
  bool has_body = false;
};

struct web_answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  /// Browsers may keep it, and ask each time whether they may use it.
  bool is_file = false;
};

/// Thread-safety: one thread at a time.
class web_requests {
 public:
  /// `rows` is only read: `list`, `now` and `history`.
  web_requests(store& rows, shared_reads& reads, host_names hosts);

  /// None while the database is read for it: call it again after the end of a read.
  std::optional<web_answer> answer(const web_request& request);

  /// Counts an answer that was given; paths that do not exist are counted as `other`.
  void count(const std::string& path, int status);
  void count_dropped() { ++counts_.dropped; }

 private:
  std::optional<web_answer> locks(const web_request& request);
  std::optional<web_answer> history(const web_request& request);
  std::optional<web_answer> metrics(const web_request& request);
  std::optional<web_answer> health(const web_request& request);
  /// 503 with the fault if `read` fails.
  std::optional<web_answer> answer_with(const std::string& name,
                                        const std::function<std::string()>& read);

  store& rows_;
  shared_reads& reads_;
  const host_names hosts_;
  server_counts counts_;
};

}  // namespace rowlock::cli

#endif
