// What serve answers to each request.
#include "cli/serve/web_requests.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "cli/database_time.hpp"
#include "cli/fault_text.hpp"
#include "cli/serve/api_json.hpp"
#include "cli/serve/web_files.hpp"
#include "cli/shown_row.hpp"
#include "cli/values.hpp"
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

using parameters = std::map<std::string, std::string>;

/// The parameters of the target, in their encoding. Each at most once, and only those named.
parameters parameters_of(const web_request& request, const std::vector<std::string>& known) {
  parameters given;
  std::istringstream all{request.target.substr(request.path().size())};
  all.ignore();  // the question mark
  for (std::string each; std::getline(all, each, '&');) {
    if (each.empty()) continue;
    const auto end = std::min(each.find('='), each.size());
    const std::string name = each.substr(0, end);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw bad_parameter{fmt::format("there is an unknown parameter: write {}{}",
                                      known.empty() ? "none" : "only ", fmt::join(known, ", "))};
    }
    if (!given.emplace(name, each.substr(std::min(end + 1, each.size()))).second) {
      throw bad_parameter{"there is a parameter twice: write each once"};
    }
  }
  return given;
}

/// What a form encodes; none where it is no UTF-8 or has a NUL.
std::optional<std::string> decoded(std::string text) try {
  std::replace(text.begin(), text.end(), '+', ' ');
  text = detail::percent_decoded(text);
  return detail::is_valid_utf8(text) ? std::optional{text} : std::nullopt;
} catch (const error&) {
  return {};
}

/// None if it is missing or empty: the page leaves out what it does not filter by.
std::optional<std::string> parameter(const parameters& given, const std::string& name) {
  const auto at = given.find(name);
  if (at == given.end() || at->second.empty()) return {};
  auto value = decoded(at->second);
  if (!value) throw bad_parameter{name + " is not valid: write UTF-8 without NUL, and %25 for a %"};
  return value;
}

std::size_t limit_in(const parameters& given, std::size_t usual, std::size_t most) {
  const auto text = parameter(given, "limit");
  if (!text) return usual;
  const auto limit = whole_number<std::size_t>(*text).value_or(0);
  if (limit >= 1 && limit <= most) return limit;
  throw bad_parameter{fmt::format("limit is not valid: write a whole number from 1 to {}", most)};
}

std::optional<database_time> time_parameter(const parameters& given, const std::string& name) {
  const auto text = parameter(given, name);
  if (!text) return {};
  const auto time = parse_database_time(*text);
  if (!time) {
    throw bad_parameter{name + " is not valid: write a time in UTC as in 2026-01-31T12:00:00Z"};
  }
  return time;
}

/// `check` of the port, whose texts say what to ask for instead.
void require_valid(const auto& request) try { check(request); } catch (const error& wrong) {
  throw bad_parameter{fault_text(wrong.what(), wrong.code())};
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

constexpr std::size_t usual_locks = 1000;
constexpr std::size_t most_locks = 5000;

}  // namespace

const std::array<web_requests::route, 4> web_requests::routes{
    {{"/api/locks", &web_requests::locks},
     {"/api/history", &web_requests::history},
     {"/metrics", &web_requests::metrics},
     {"/healthz", &web_requests::health}}};

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
  const auto path = request.path();
  try {
    if (const auto* const file = file_of(path)) {
      return web_answer{
          .type = type_of(file->name), .body = std::string{file->content}, .is_file = true};
    }
    for (const auto& known : routes) {
      if (known.path == path) return (this->*known.answer)(request);
    }
  } catch (const bad_parameter& wrong) {
    return json_error(400, wrong.what());
  }
  return text_answer(404, "there is no such page: see /");
}

void web_requests::count(const std::string& path, int status) {
  const bool is_known = file_of(path) != nullptr ||
                        std::any_of(routes.begin(), routes.end(),
                                    [&path](const route& known) { return known.path == path; });
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
  const auto given = parameters_of(request, {"type", "holder", "limit"});
  list_request wanted{.type = parameter(given, "type"), .holder = parameter(given, "holder")};
  // One row more says that there are more.
  wanted.limit = limit_in(given, usual_locks, most_locks) + 1;
  require_valid(wanted);
  // The reads may outlive this object while the process ends.
  return answer_with(request.target, [&rows = rows_, wanted] {
    const auto locks = rows.list(wanted);
    return locks_json(locks, rows.now(), *wanted.limit - 1);
  });
}

std::optional<web_answer> web_requests::history(const web_request& request) {
  const auto given = parameters_of(
      request, {"since", "until", "type", "source", "holder", "what", "before", "limit"});
  history_request wanted{.type = parameter(given, "type"),
                         .source_id = parameter(given, "source"),
                         .holder = parameter(given, "holder"),
                         .what = parameter(given, "what"),
                         .since = time_parameter(given, "since"),
                         .until = time_parameter(given, "until")};
  if (const auto cursor = parameter(given, "before")) {
    wanted.before = event_at(*cursor);
    if (!wanted.before) {
      throw bad_parameter{"before is not valid: write the `next` of an answer"};
    }
  }
  wanted.limit = limit_in(given, longest_history, longest_history);
  require_valid(wanted);
  return answer_with(request.target,
                     [&rows = rows_, wanted] { return read_history(rows, wanted, wanted.limit); });
}

std::optional<web_answer> web_requests::metrics(const web_request& request) {
  parameters_of(request, {});
  const auto read = reads_.get("metrics", [&rows = rows_] {
    lock_totals totals;
    list_request page{.limit = largest_page};
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
  parameters_of(request, {});
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
