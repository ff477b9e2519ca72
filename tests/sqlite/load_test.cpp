// Many processes that write to one file all the time: none is refused.
#include <memory>
#include <sstream>
#include <vector>

#include "sqlite/sqlite_files.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

class SqliteLoad : public migrated_sqlite_test, public testing::WithParamInterface<std::string> {};

TEST_P(SqliteLoad, Of32ProcessesServesEachAndRefusesNone) {
  std::vector<std::unique_ptr<child_process>> writers;
  for (int i = 0; i < 32; ++i) {
    writers.push_back(std::make_unique<child_process>(
        std::vector<std::string>{ROWLOCK_SQLITE_WRITER, path(), GetParam(), "25"}));
  }
  for (auto& writer : writers) ASSERT_EQ(writer->read_line(), "ready") << writer->errors();
  for (auto& writer : writers) writer->write_line("go");

  int refused_in_all = 0;
  for (auto& writer : writers) {
    std::istringstream said{writer->read_line().value_or("")};
    int refused = 0;
    ASSERT_TRUE(said >> refused) << writer->errors();
    refused_in_all += refused;
  }
  EXPECT_EQ(refused_in_all, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, SqliteLoad, testing::Values("leases", "row-locks"),
                         [](const auto& shown) {
                           return std::string{shown.param == "leases" ? "Leases" : "RowLocks"};
                         });

}  // namespace
}  // namespace rowlock::tests
