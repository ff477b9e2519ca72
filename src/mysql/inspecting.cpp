// What operators see: the server, the rights of a user there, and the history.
#include "mysql/inspecting.hpp"

#include <array>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "mysql/errors.hpp"
#include "mysql/sql/history.hpp"
#include "mysql/sql/session.hpp"
#include "rowlock/error.hpp"
#include "store/history_pages.hpp"

namespace rowlock::mysql {

namespace {

using use = inspection::use;

struct trial {
  std::string_view statement;
  std::string_view right;
  std::initializer_list<use> needed_for;
};

constexpr std::initializer_list<use> of_all{use::lock, use::fence, use::list, use::purge};
constexpr std::initializer_list<use> of_checks{use::lock, use::list, use::purge};
constexpr std::initializer_list<use> of_lock{use::lock};
constexpr std::initializer_list<use> of_fence{use::fence};
constexpr std::initializer_list<use> of_purge{use::purge};

const std::array trials{trial{sql::find_table, "SELECT on shared_lock", of_all},
                        trial{sql::schema_version, "SELECT on shared_lock_schema", of_checks},
                        trial{sql::explain_insert, "INSERT on shared_lock", of_lock},
                        trial{sql::explain_update, "UPDATE on shared_lock", of_lock},
                        trial{sql::explain_fence, "UPDATE (fence_count) on shared_lock", of_fence},
                        trial{sql::explain_delete, "DELETE on shared_lock", of_purge}};

enum class answer { allowed, refused, no_table };

answer try_out(executor& exec, std::string_view statement) {
  constexpr unsigned refused_on_table = 1142;
  constexpr unsigned refused_on_column = 1143;
  constexpr unsigned missing_table = 1146;
  try {
    exec.session().execute(exec.texts()(statement));
    return answer::allowed;
  } catch (const std::exception& thrown) {
    const auto number = error_number_of(thrown);
    if (number == refused_on_table || number == refused_on_column) return answer::refused;
    if (number != missing_table) throw;
    return answer::no_table;
  }
}

}  // namespace

std::string_view product_of(std::string_view text) {
  for (const std::string_view product : {"TiDB", "Vitess", "MariaDB"}) {
    if (text.find(product) != std::string_view::npos) return product;
  }
  return "MySQL";
}

inspection server_of(const connection& session) {
  const auto number = static_cast<int>(session.server_version());  // 101119 is 10.11.19
  return {.product = std::string{product_of(session.server_text())},
          .version = {number / 10'000, number / 100 % 100, number % 100}};
}

std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec,
                                                                     const table_name& table) {
  std::vector<inspection::missing_right> missing;
  for (const auto& each : trials) {
    const auto given = try_out(exec, each.statement);
    if (given == answer::no_table) return std::nullopt;
    if (given == answer::allowed) continue;
    constexpr std::string_view default_name = "shared_lock";
    std::string right{each.right};
    right.replace(right.find(default_name), default_name.size(), table.text());
    for (const auto used_for : each.needed_for) missing.push_back({used_for, right});
  }
  return missing;
}

std::optional<int> connection_limit(executor& exec) {
  const auto found = exec.execute(sql::connection_limit).rows.at(0).at(0);
  return found ? std::optional{std::stoi(*found)} : std::nullopt;
}

namespace {

/// Throws where there is a table that this user may not read.
bool has_history(executor& exec) {
  try {
    (void)exec.execute(sql::some_event);
    return true;
  } catch (const std::exception& thrown) {
    constexpr unsigned no_such_table = 1146;
    if (error_number_of(thrown) != no_such_table) throw;
    return false;
  }
}

result_set found_by(executor& exec, std::string_view text, const history_request& request,
                    std::int64_t limit) {
  const auto ascii = [](const std::optional<std::string>& value) {
    return value ? bound_value::ascii(*value) : bound_value::null();
  };
  const auto bytes = [](const std::optional<std::string>& value) {
    return value ? bound_value::bytes(*value) : bound_value::null();
  };
  const auto& before = request.before;
  const auto holder = request.holder ? bound_value::utf8(*request.holder) : bound_value::null();
  return exec.execute(text,
                      {detail::since_of(request), detail::until_of(request), ascii(request.type),
                       bytes(request.source_id), holder, ascii(request.what),
                       before ? bound_value::ascii(before->at) : bound_value::null(),
                       before ? bound_value::ascii(before->key.type) : bound_value::null(),
                       before ? bound_value::bytes(before->key.source_id) : bound_value::null(),
                       before ? std::optional{before->version.number} : std::nullopt,
                       before ? bound_value::ascii(before->what) : bound_value::null(), limit});
}

}  // namespace

history_page history(executor& exec, const history_request& request) {
  if (!has_history(exec)) return {};
  const auto find = [&](const auto&... given) { return found_by(exec, given...).rows; };
  return detail::page_by_time(
      request, find, [](const result_set::row& row) { return std::stoll(row.at(0).value()); },
      event_in);
}

std::size_t purge_history(executor& exec, const history_purge_request& request) {
  if (!has_history(exec)) return 0;
  const auto result = exec.write(
      sql::purge_history, {request.older_than.count(), static_cast<std::int64_t>(request.limit)});
  if (!result) {
    throw error{
        errc::unavailable,
        "another transaction has events of the history locked: end it, or purge again later"};
  }
  return static_cast<std::size_t>(result->affected);
}

}  // namespace rowlock::mysql
