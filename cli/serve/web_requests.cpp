// What serve answers to each request.
#include "cli/serve/web_requests.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "cli/database_time.hpp"
#include "cli/serve/api_json.hpp"
#include "cli/serve/lock_history.hpp"
#include "cli/serve/web_files.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

using nlohmann::ordered_json;

/// Its text says what to write instead, and contains nothing of the request.
class bad_parameter : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

web_answer json_answer(int status, std::string body) {
  return {.status = status, .type = "application/json", .body = std::move(body)};
}

web_answer json_error(int status, const std::string& text) {
  return json_answer(status, compact_json({{"error", text}}));
}

web_answer text_answer(int status, const std::string& text) {
  return {.status = status, .body = text + '\n'};
}

/// Each parameter at most once, and only those named.
void check_names(const web_request& request, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : request.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string names;
      for (const auto each : known) names += (names.empty() ? "" : ", ") + std::string{each};
      throw bad_parameter{known.size() == 0 ? "there is an unknown parameter: write none"
                                            : "there is an unknown parameter: write only " + names};
    }
    if (request.parameters.count(name) > 1) {
      throw bad_parameter{"there is a parameter twice: write each once"};
    }
  }
}

/// None if it is missing or empty: the page leaves out what it does not filter by.
std::optional<std::string> parameter(const web_request& request, const std::string& name) {
  const auto at = request.parameters.find(name);
  if (at == request.parameters.end() || at->second.empty()) return {};
  const std::string& value = at->second;
  if (!detail::is_valid_utf8(value) || value.find('\0') != std::string::npos) {
    throw bad_parameter{name + " is not valid: write UTF-8 without NUL"};
  }
  return value;
}

std::optional<std::int64_t> number_parameter(const web_request& request, const std::string& name,
                                             std::int64_t least, std::int64_t greatest) {
  const auto text = parameter(request, name);
  if (!text) return {};
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc{} || end != text->data() + text->size() || value < least ||
      value > greatest) {
    throw bad_parameter{name + " is not valid: write a whole number from " + std::to_string(least) +
                        " to " + std::to_string(greatest)};
  }
  return value;
}

std::optional<database_time> time_parameter(const web_request& request, const std::string& name) {
  const auto text = parameter(request, name);
  if (!text) return {};
  const auto time = parse_database_time(*text);
  if (!time) {
    throw bad_parameter{name + " is not valid: write a time in UTC as in 2026-01-31T12:00:00Z"};
  }
  return time;
}

/// `check` of the port, whose texts say what to ask for instead.
template <class Request>
void require_valid(const Request& request) {
  try {
    check(request);
  } catch (const error& wrong) {
    std::string text = wrong.what();
    // It says what kind of error it is behind the text.
    text.erase(std::min(text.size(), text.rfind(": ")));
    throw bad_parameter{text};
  }
}

/// Requests with one name have the same answer.
std::string name_of(std::string name, const web_request& request) {
  for (const auto& [parameter, value] : request.parameters) {
    name += compact_json({parameter, value});
  }
  return name;
}

const web_file* file_of(const std::string& path) {
  const auto files = web_files();
  if (path == "/") return &files.front();
  const auto found = std::find_if(files.begin(), files.end(), [&path](const web_file& file) {
    return path.size() == file.name.size() + 1 && path.ends_with(file.name) && path[0] == '/';
  });
  return found == files.end() ? nullptr : &*found;
}

std::string type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "text/javascript; charset=utf-8";
}

constexpr std::int64_t most_locks = 5000;

constexpr std::array<std::string_view, 4> answered_paths{"/api/locks", "/api/history", "/metrics",
                                                         "/healthz"};

}  // namespace

web_requests::web_requests(store& rows, shared_reads& reads, host_names hosts)
    : rows_{rows}, reads_{reads}, hosts_{std::move(hosts)} {}

std::optional<web_answer> web_requests::answer(const web_request& request) {
  if (request.hosts.size() != 1) return text_answer(400, "write one Host header");
  if (!hosts_.allow(request.hosts.front())) {
    return text_answer(421,
                       "this host name is not answered; if it is a name of this server, start "
                       "rowlock serve with --host NAME");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return text_answer(405, "only GET and HEAD are answered: nothing can be changed here");
  }
  if (request.has_body) return text_answer(413, "send no body: nothing can be changed here");
  try {
    if (const auto* const file = file_of(request.path)) {
      return web_answer{
          .type = type_of(file->name), .body = std::string{file->content}, .is_file = true};
    }
    if (request.path == "/api/locks") return locks(request);
    if (request.path == "/api/history") return history(request);
    if (request.path == "/metrics") return metrics(request);
    if (request.path == "/healthz") return health(request);
  } catch (const bad_parameter& wrong) {
    return json_error(400, wrong.what());
  }
  return text_answer(404, "there is no such page: see /");
}

void web_requests::count(const std::string& path, int status) {
  const bool is_known =
      std::find(answered_paths.begin(), answered_paths.end(), path) != answered_paths.end() ||
      file_of(path) != nullptr;
  ++counts_.answers[{is_known ? path : "other", status}];
}

std::optional<web_answer> web_requests::answer_with(const std::string& name,
                                                    const std::function<std::string()>& read) {
  const auto outcome = reads_.get(name, read);
  if (outcome.is_pending()) return {};
  if (!outcome.answer) return json_error(503, outcome.fault);
  return json_answer(200, *outcome.answer);
}

std::optional<web_answer> web_requests::locks(const web_request& request) {
  check_names(request, {"type", "holder", "limit"});
  list_request wanted{.type = parameter(request, "type"), .holder = parameter(request, "holder")};
  const auto limit = number_parameter(request, "limit", 1, most_locks).value_or(1000);
  // One row more says that there are more.
  wanted.at_most = static_cast<std::size_t>(limit) + 1;
  require_valid(wanted);
  // The reads may outlive this object while the process ends.
  return answer_with(name_of("locks", request), [&rows = rows_, wanted] {
    const auto locks = rows.list(wanted);
    return locks_json(locks, rows.now(), *wanted.at_most - 1);
  });
}

std::optional<web_answer> web_requests::history(const web_request& request) {
  check_names(request, {"since", "until", "type", "source", "holder", "what", "before", "limit"});
  history_request wanted{.type = parameter(request, "type"),
                         .source_id = parameter(request, "source"),
                         .holder = parameter(request, "holder"),
                         .what = parameter(request, "what"),
                         .since = time_parameter(request, "since"),
                         .until = time_parameter(request, "until")};
  if (const auto cursor = parameter(request, "before")) {
    wanted.before = event_at(*cursor);
    if (!wanted.before) {
      throw bad_parameter{"before is not valid: write the `next` of an answer"};
    }
  }
  constexpr auto most = static_cast<std::int64_t>(longest_history);
  wanted.at_most =
      static_cast<std::size_t>(number_parameter(request, "limit", 1, most).value_or(most));
  require_valid(wanted);
  return answer_with(name_of("history", request), [&rows = rows_, wanted] {
    return read_history(rows, wanted, wanted.at_most);
  });
}

std::optional<web_answer> web_requests::metrics(const web_request& request) {
  check_names(request, {});
  const auto read = reads_.get("metrics", [&rows = rows_] {
    lock_totals totals;
    list_request page{.at_most = largest_page};
    for (;;) {
      const auto found = rows.list(page);
      totals.add(found);
      if (found.size() < largest_page) return totals.text();
      page.after = found.back().key;
    }
  });
  if (read.is_pending()) return {};
  counts_.database_reads = reads_.counted().reads;
  counts_.database_faults = reads_.counted().faults;
  // Without the database there are no gauges of locks: old ones would look like new ones.
  return web_answer{.type = "text/plain; version=0.0.4; charset=utf-8",
                    .body = (read.answer ? *read.answer : "") +
                            metrics_of_server(read.answer != nullptr, counts_)};
}

std::optional<web_answer> web_requests::health(const web_request& request) {
  check_names(request, {});
  const auto read = reads_.get("health", [&rows = rows_] {
    // Any key will do: it need not exist, but its table must.
    (void)rows.read(std::array{lock_key{"rowlock", "healthz"}});
    return compact_json({{"ok", true}});
  });
  if (read.is_pending()) return {};
  if (read.answer) return json_answer(200, *read.answer);
  return json_answer(503, compact_json({{"ok", false}, {"error", read.fault}}));
}

}  // namespace rowlock::cli
