// What serve answers to each request.
#include "cli/serve/web_requests.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "cli/serve/lock_history.hpp"
#include "cli/serve/web_files.hpp"

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

shared_reads::outcome web_requests::read_locks() {
  // The reads may outlive this object while the process ends.
  return reads_.get("locks", [&rows = rows_, clock = clock_] {
    database_answer read{.rows = rows.list()};
    clock->learn(read.rows);
    read.at = to_rfc3339(clock->now());
    return read;
  });
}

std::string web_requests::json_of_locks(const std::shared_ptr<const database_answer>& read,
                                        const lock_filter& filter) {
  constexpr std::size_t most_kept = 20'000;
  if (made_of_ != read || made_.size() >= most_kept) {
    made_.clear();
    made_of_ = read;
  }
  return locks_json(read->rows, read->at, filter, [&](std::size_t row) -> std::string_view {
    auto& text = made_[row];
    if (text.empty()) text = lock_json(read->rows[row]);
    return text;
  });
}

std::optional<web_answer> web_requests::locks(const web_request& request) {
  check_names(request, {"type", "holder", "limit"});
  lock_filter filter{.type = parameter(request, "type"), .holder = parameter(request, "holder")};
  constexpr auto most = static_cast<std::int64_t>(lock_filter::most);
  if (const auto limit = number_parameter(request, "limit", 1, most)) {
    filter.limit = static_cast<std::size_t>(*limit);
  }
  const auto read = read_locks();
  if (read.is_pending()) return {};
  if (!read.answer) return json_error(503, read.fault);
  return json_answer(200, json_of_locks(read.answer, filter));
}

std::optional<web_answer> web_requests::history(const web_request& request) {
  check_names(request, {"since", "before", "limit"});
  history_query query{
      .since = time_parameter(request, "since"),
      .before = number_parameter(request, "before", 0, std::numeric_limits<std::int64_t>::max())};
  constexpr auto most = static_cast<std::int64_t>(history_query::longest);
  if (const auto limit = number_parameter(request, "limit", 1, most)) {
    query.limit = static_cast<std::size_t>(*limit);
  }
  const auto read = reads_.get("history " + query.text(), [&rows = rows_, query, clock = clock_] {
    return database_answer{.json = compact_json(read_history(rows, query, *clock))};
  });
  if (read.is_pending()) return {};
  if (!read.answer) return json_error(503, read.fault);
  return json_answer(200, read.answer->json);
}

std::optional<web_answer> web_requests::metrics(const web_request& request) {
  check_names(request, {});
  const auto read = read_locks();
  if (read.is_pending()) return {};
  counts_.database_reads = reads_.counted().reads;
  counts_.database_faults = reads_.counted().faults;
  // Without the database there are no gauges of locks: old ones would look like new ones.
  std::string text = read.answer ? metrics_of_locks(read.answer->rows) : "";
  return web_answer{.type = "text/plain; version=0.0.4; charset=utf-8",
                    .body = text + metrics_of_server(read.answer != nullptr, counts_)};
}

std::optional<web_answer> web_requests::health(const web_request& request) {
  check_names(request, {});
  const auto read = read_locks();
  if (read.is_pending()) return {};
  if (read.answer) return json_answer(200, compact_json({{"ok", true}}));
  return json_answer(503, compact_json({{"ok", false}, {"error", read.fault}}));
}

}  // namespace rowlock::cli
