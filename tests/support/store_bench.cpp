// What a bench does that has nothing of the kind.
#include "rowlock/testing/store_bench.hpp"

#include <ostream>
#include <stdexcept>

namespace rowlock::conformance {

namespace {

[[noreturn]] void throw_no_entities() {
  throw std::logic_error{
      "this bench has no rows of the application: override the members for entities, or leave "
      "has_entities false"};
}

}  // namespace

outcome<void> app_transaction::lock_entity(const entity_table& /*table*/, const row_id& /*id*/,
                                           const retry_policy& /*wait*/) {
  throw_no_entities();
}

outcome<std::int64_t> app_transaction::read_version(const versioned_table& /*table*/,
                                                    const row_id& /*id*/) {
  throw_no_entities();
}

commit_result app_transaction::try_commit(const versioned_table& /*table*/, const row_id& /*id*/,
                                          std::int64_t /*seen*/) {
  throw_no_entities();
}

void app_transaction::execute(const std::string& /*sql*/) { throw_no_entities(); }

std::string app_connection::seats() const { throw_no_entities(); }

std::unique_ptr<app_connection> store_bench::connect() {
  throw std::logic_error{
      "this bench has no transactions: override connect(), or leave has_transactions false"};
}

std::shared_ptr<void> store_bench::lock_as_a_stranger(const lock_key& /*key*/) {
  throw std::logic_error{
      "this bench has no foreign transactions: override lock_as_a_stranger(), or leave "
      "has_foreign_transactions false"};
}

std::vector<std::string> store_bench::contender() const {
  throw std::logic_error{
      "this bench names no contender: override contender(), or leave is_shared_between_processes "
      "false"};
}

std::ostream& operator<<(std::ostream& out, const bench_kind& shown) { return out << shown.name; }

}  // namespace rowlock::conformance
