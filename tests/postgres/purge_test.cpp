// Purges of rows that the database does not let go.
#include <algorithm>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::tests {
namespace {

class PostgresPurge : public postgres_table {
 protected:
  PostgresPurge() {
    for (int i = 0; i < 30; ++i) keys_.push_back({"job", std::to_string(10 + i)});
    rows_.read(keys_, read_mode::ready_to_commit);
    server_.query("update " + name() + " set version = 1");
  }
  std::vector<std::string> left() {
    std::vector<std::string> ids;
    for (const auto& each : server_.query("select source_id from " + name() + " order by 1")) {
      ids.push_back(each[0].as<std::string>());
    }
    return ids;
  }

  std::vector<lock_key> keys_;
  postgres_store rows_ = open_store();
};

TEST_F(PostgresPurge, OfRowsToWhichAForeignKeyRefersDeletesAllOthersAndNamesThem) {
  server_.query("create table " + schema() +
                ".report (lock_type text collate \"C\", source_id text collate \"C\", foreign key "
                "(lock_type, source_id) references " +
                name() + ")");
  server_.query("insert into " + schema() +
                ".report values ('job', '10'), ('job', '23'), "
                "('job', '24'), ('job', '39')");
  for (const std::size_t batch : {1000U, 7U, 1U}) {
    const auto result = purge(rows_, 1h, batch);
    EXPECT_TRUE(result.is_complete);
    EXPECT_EQ(result.purged, batch == 1000 ? 26U : 0U);
    EXPECT_EQ(result.refused, 4U);
    EXPECT_EQ(result.refused_keys,
              (std::vector<lock_key>{{"job", "10"}, {"job", "23"}, {"job", "24"}, {"job", "39"}}));
  }
  EXPECT_EQ(left(), (std::vector<std::string>{"10", "23", "24", "39"}));
}

TEST_F(PostgresPurge, OfRowsForWhichATriggerRaisesDeletesAllOthers) {
  // No code but that of RAISE itself; a code of the application; one of PostgreSQL's.
  server_.query("create function " + schema() +
                ".raise() returns trigger language plpgsql as $$ begin "
                "if old.source_id = '23' then raise 'no'; "
                "elsif old.source_id = '25' then raise 'no' using errcode = 'SH001'; "
                "else raise 'no' using errcode = 'invalid_parameter_value'; end if; end $$");
  server_.query("create trigger raising before delete on " + name() +
                " for each row when (old.source_id in ('23', '25', '30')) execute function " +
                schema() + ".raise()");
  const auto result = purge(rows_, 1h);
  EXPECT_EQ(result.purged, 27U);
  EXPECT_EQ(result.refused_keys,
            (std::vector<lock_key>{{"job", "23"}, {"job", "25"}, {"job", "30"}}));
  EXPECT_EQ(left(), (std::vector<std::string>{"23", "25", "30"}));
}

TEST_F(PostgresPurge, ThatTheDatabaseRefusesForEveryRowSaysWhy) {
  const test_role role{server_};
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant select, update on all tables in schema " + schema() + " to " + role.name());
  auto of_role = open_store(role.url());
  const auto caught = error_of([&] { (void)purge(of_role, 1h); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("no privilege"), std::string::npos) << caught.message();
  EXPECT_EQ(left().size(), keys_.size());
}

}  // namespace
}  // namespace rowlock::tests
