// Tests of a holder in a process of its own.
#ifndef ROWLOCK_TESTS_FAULTS_COMMANDED_HOLDER_TEST_HPP
#define ROWLOCK_TESTS_FAULTS_COMMANDED_HOLDER_TEST_HPP

#include <map>
#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {

class commanded_holder_test : public postgres_table {
 protected:
  commanded_holder_test() {
    server_.query("create table " + journal() + " (token bigint not null)");
  }

  [[nodiscard]] std::string journal() const { return schema() + ".journal"; }

  /// Has acquired `key_` when this returns.
  std::unique_ptr<child_process> start_holder(
      std::chrono::milliseconds ttl, const std::map<std::string, std::string>& environment = {}) {
    auto holder = std::make_unique<child_process>(
        std::vector<std::string>{ROWLOCK_COMMANDED_HOLDER, postgres_url(), schema(), key_.type,
                                 key_.source_id, std::to_string(ttl.count())},
        environment);
    const auto said = holder->read_line().value_or("nothing: " + holder->errors());
    EXPECT_EQ(said.substr(0, 9), "acquired ") << said;
    return holder;
  }

  static std::string command(child_process& holder, const std::string& order) {
    holder.write_line(order);
    return holder.read_line().value_or("nothing: " + holder.errors());
  }

  int rows_in_journal() { return server_.value<int>("select count(*) from " + journal()); }
};

}  // namespace rowlock::tests

#endif
