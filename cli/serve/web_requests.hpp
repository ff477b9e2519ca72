// What serve answers to each request.
#ifndef ROWLOCK_CLI_SERVE_WEB_REQUESTS_HPP
#define ROWLOCK_CLI_SERVE_WEB_REQUESTS_HPP

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve/addresses.hpp"
#include "cli/serve/metrics.hpp"
#include "cli/serve/shared_reads.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// A request without its body, with the texts as they came.
struct web_request {
  std::string method;
  /// A path, and parameters after `?`.
  std::string target;
  /// One for each Host header.
  std::vector<std::string> hosts = {};
  bool has_body = false;

  [[nodiscard]] std::string path() const { return target.substr(0, target.find('?')); }
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
  using answer_to = std::optional<web_answer> (web_requests::*)(const web_request&);
  struct route {
    std::string_view path;
    answer_to answer;
  };
  static const std::array<route, 4> routes;

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
