// What one call of the port asks the server.
#include "postgres/store_call.hpp"

#include <cstdint>

namespace rowlock::postgres {

namespace {

done_request done_in(const pqxx::row& row) {
  return {row["place"].as<std::size_t>() - 1, {row["version"].as<std::int64_t>()}};
}

}  // namespace

pqxx::result store_call::execute_writing(const std::string& sql, const bound_values& values) {
  const effects before = had_;
  if (had_ == effects::none) had_ = effects::possible;
  auto answered = connection_.execute(sql, values);
  had_ = answered.empty() ? before : effects::made;
  return answered;
}

std::vector<done_request> store_call::write(const std::string& sql, const bound_values& values) {
  std::vector<done_request> done;
  for (const auto& row : execute_writing(sql, values)) done.push_back(done_in(row));
  return done;
}

std::vector<done_request> store_call::take_rows(const std::string& sql,
                                                const bound_values& values) {
  std::vector<done_request> taken;
  for (const auto& row : execute_writing(sql, values)) {
    auto& each = taken.emplace_back(done_in(row));
    if (row["left_of_last_us"].is_null()) continue;
    each.taken_over = {row["last_holder"].as<std::string>(""),
                       std::chrono::microseconds{row["left_of_last_us"].as<std::int64_t>()}};
  }
  return taken;
}

std::vector<std::optional<seen_row>> store_call::look(const key_list& keys) {
  std::vector<std::optional<seen_row>> seen(keys.size());
  const bound_values values{types_of(keys), ids_of(keys)};
  for (const auto& row : connection_.execute(statements_.look, values)) {
    const auto index = row["place"].as<std::size_t>() - 1;
    seen[index] = seen_in(row, *keys[index]);
    seen[index]->will_be_announced = row["will_be_announced"].as<bool>();
  }
  return seen;
}

void store_call::leave_word(const key_list& keys, const std::string& versions) {
  // Not `execute_writing`: whether it was done makes no difference to anybody's lock.
  connection_.execute(statements_.leave_word, bound_values{types_of(keys), ids_of(keys), versions});
}

void store_call::prepare(const key_list& keys) {
  execute_writing(statements_.prepare, bound_values{types_of(keys), ids_of(keys)});
}

std::vector<row_state> store_call::list() {
  std::vector<row_state> owned;
  for (const auto& row : connection_.execute(statements_.list)) {
    owned.push_back(seen_in(row, {.type = row["lock_type"].as<std::string>(),
                                  .source_id = row["source_id"].as<std::string>()})
                        .state);
  }
  return owned;
}

std::vector<std::string> store_call::weak_settings() {
  std::vector<std::string> weak;
  for (const auto& row : connection_.execute(statements_.weak_settings)) {
    const auto name = row["name"].as<std::string>();
    weak.push_back(name + " is " + row["setting"].as<std::string>() +
                   " on this PostgreSQL server: a crash can undo what it acknowledged, a grant or "
                   "a release too; set " +
                   name + " = on");
  }
  return weak;
}

std::optional<int> store_call::schema_version() {
  if (!connection_.execute(statements_.schema_exists)[0][0].as<bool>()) return std::nullopt;
  return connection_.execute(statements_.schema_version)[0][0].as<int>();
}

}  // namespace rowlock::postgres
