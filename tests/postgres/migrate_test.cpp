// The schema on PostgreSQL: applied by us, by psql, by many at once.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <iterator>

#include "postgres/postgres_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/child_process.hpp"
#include "support/service_file.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

/// An empty schema.
class PostgresMigrate : public testing::Test {
 protected:
  [[nodiscard]] table_name table() const { return schema_.table(); }

  /// The tables, types and functions in the schema.
  std::int64_t things() {
    const std::string here = "'" + schema_.name() + "'::regnamespace";
    return server_.value<std::int64_t>(
        "select (select count(*) from pg_class where relnamespace = " + here +
        ") + (select count(*) from pg_type where typnamespace = " + here +
        ") + (select count(*) from pg_proc where pronamespace = " + here + ")");
  }

  std::vector<migration> migrate(const std::string& url = postgres_url()) {
    return migrate_postgres(url, table());
  }

  /// `text` by psql, which stops at the first error.
  static int psql(const std::string& text, const std::vector<std::string>& options) {
    const temp_folder folder;
    const std::string file = folder.path() / "migration.sql";
    std::ofstream{file} << text;
    std::vector<std::string> command{"psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--file=" + file, postgres_url()});
    child_process running{command};
    const int code = running.wait();
    EXPECT_EQ(running.errors(), "");
    return code;
  }

  postgres_schema schema_;
  observer server_;
};

TEST_F(PostgresMigrate, SaysWhatItAppliedAndDoesNothingTheSecondTime) {
  const auto applied = migrate();
  ASSERT_EQ(applied.size(), postgres_migrations().size());
  EXPECT_EQ(applied.front().number, 1);
  EXPECT_EQ(applied.front().name, "shared_lock");
  const auto before = things();
  EXPECT_TRUE(migrate().empty());
  EXPECT_EQ(things(), before);
}

TEST_F(PostgresMigrate, IsUsableAtOnce) {
  migrate();
  postgres_store rows{postgres_url(), {.table = table()}};
  EXPECT_TRUE(rows.list().empty());
}

TEST_F(PostgresMigrate, TakesAnyValidName) {
  const table_name odd{schema_.name() + ".Order_" + std::string(50, 'x')};
  EXPECT_EQ(migrate_postgres(postgres_url(), odd).size(), postgres_migrations().size());
  postgres_store rows{postgres_url(), {.table = odd}};
  const acquire_request request{
      .key = {"a", "b"}, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h};
  EXPECT_EQ(rows.acquire(std::array{request})[0].status, acquire_status::granted);
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  EXPECT_TRUE(lock_rows(work, lock_key{"c", "d"}, no_wait(), odd).acquired());
}

// Its functions would look the table up in the session that calls them.
TEST_F(PostgresMigrate, UnderANameWithoutASchemaLocksItsOwnTableWhateverThePathIs) {
  const postgres_schema other;
  migrate_postgres(postgres_url(), table_name{other.name() + ".shared_lock"});
  const auto separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
  migrate_postgres(postgres_url() + separator + "options=-c%20search_path%3D" + schema_.name(),
                   table_name{"shared_lock"});
  const table_name named{schema_.name() + ".shared_lock"};
  postgres_store rows{postgres_url(), {.table = named}};
  const lock_key key{"a", "b"};
  const acquire_request request{
      .key = key, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h};
  ASSERT_EQ(rows.acquire(std::array{request})[0].status, acquire_status::granted);
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  work.exec("set local search_path = " + other.name() + ", " + schema_.name());
  EXPECT_EQ(lock_rows(work, key, no_wait(), named).refusal().reason, refusal_reason::held);
}

TEST_F(PostgresMigrate, LetsTwoTablesLiveInOneSchema) {
  migrate();
  EXPECT_EQ(migrate_postgres(postgres_url(), table_name{schema_.name() + ".other"}).size(),
            postgres_migrations().size());
}

TEST_F(PostgresMigrate, IsAppliedAndTakenBackByPsqlInATransactionOrNot) {
  const auto before = things();
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--single-transaction"}}) {
    const auto steps = postgres_migrations(table());
    for (const auto& step : steps) EXPECT_EQ(psql(step.up, options), 0);
    EXPECT_TRUE(migrate().empty());
    postgres_store rows{postgres_url(), {.table = table()}};
    EXPECT_TRUE(rows.list().empty());
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      EXPECT_EQ(psql(step->down, options), 0);
    }
    EXPECT_EQ(things(), before);
  }
}

TEST_F(PostgresMigrate, CanBeTakenBackAndAppliedAgain) {
  const auto step = migrate().front();
  postgres_schema::execute(step.down);
  EXPECT_EQ(migrate().size(), postgres_migrations().size());
}

TEST_F(PostgresMigrate, IsAppliedOnceWhenFiftyProcessesDoItAtOnce) {
  constexpr int processes = 50;
  // A child waits until the pipe ends, so that all begin together.
  std::array<int, 2> gate{};
  ASSERT_EQ(pipe(gate.data()), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(gate[1]);
      char byte = 0;
      if (read(gate[0], &byte, 1) != 0) _exit(2);
      int code = 2;
      try {
        code = migrate().empty() ? 0 : 1;
      } catch (const std::exception& thrown) {
        std::cerr << thrown.what() << '\n';
      }
      _exit(code);
    }
    children.push_back(child);
  }
  close(gate[0]);
  close(gate[1]);
  std::array<int, 3> by_code{};
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ++by_code.at(static_cast<std::size_t>(WEXITSTATUS(status)));
  }
  EXPECT_EQ(by_code[0], processes - 1) << "found nothing to do";
  EXPECT_EQ(by_code[1], 1) << "applied it";
  EXPECT_EQ(by_code[2], 0) << "failed";
}

TEST_F(PostgresMigrate, SeesWhatWasDoneBeforeItsTurnWhateverTheIsolationOfTheRole) {
  test_role role{server_};
  server_.query("alter role " + role.name() +
                " set default_transaction_isolation = 'repeatable read'");
  server_.query("grant usage, create on schema " + schema_.name() + " to " + role.name());
  const service_file services{service_on(server_, "shop", role)};

  open_work rival;
  rival.work.exec("select pg_advisory_xact_lock(hashtextextended('rowlock migrate', 0))");
  auto waiting = std::async(std::launch::async, [&] { return migrate("service=shop").size(); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event = 'advisory' and"
      " usename = '" +
      role.name() + "'");
  for (const auto& step : postgres_migrations(table())) rival.work.exec(step.up);
  rival.work.exec(table().in("grant select on shared_lock_schema to ") + role.name());
  rival.work.commit();
  EXPECT_EQ(waiting.get(), 0U);
}

TEST_F(PostgresMigrate, RefusesASchemaThatIsNewer) {
  migrate();
  postgres_schema::execute(table().in("insert into shared_lock_schema values (99, 'later')"));
  const auto caught = error_of([&] { migrate(); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("99"), std::string::npos);
}

TEST_F(PostgresMigrate, RefusesATableOrATypeThatIsNotOurs) {
  for (const std::string thing : {"table shared_lock", "type shared_lock_note"}) {
    const bool is_table = thing.starts_with("table");
    postgres_schema::execute(table().in("create " + thing + (is_table ? " ()" : " as ()")));
    const auto before = things();
    const auto caught = error_of([&] { migrate(); });
    EXPECT_EQ(caught.kind, errc::rejected) << thing;
    EXPECT_NE(caught.message().find("another name"), std::string::npos) << caught.message();
    EXPECT_EQ(things(), before);
    postgres_schema::execute(table().in("drop " + thing));
  }
}

TEST_F(PostgresMigrate, AfterTheTablesWereDroppedByHandNamesTheSqlThatDropsTheRest) {
  migrate();
  server_.query("drop table " + table().text() + ", " + table().text() + "_schema");
  const auto caught = error_of([&] { migrate(); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("rowlock migrate --print --down --table " + table().text() +
                                  " postgresql://"),
            std::string::npos)
      << caught.message();
  EXPECT_EQ(psql(postgres_migrations(table()).front().down, {}), 0);
  EXPECT_EQ(migrate().size(), postgres_migrations().size());
}

TEST_F(PostgresMigrate, WithoutTheSchemaOrThePrivilegeIsRejected) {
  const auto missing =
      error_of([] { migrate_postgres(postgres_url(), "no_such_schema.shared_lock"); });
  EXPECT_EQ(missing.kind, errc::rejected);
  EXPECT_NE(missing.message().find("create it"), std::string::npos);

  test_role role{server_};
  server_.query("grant usage on schema " + schema_.name() + " to " + role.name());
  const auto caught = error_of([&] { migrate(role.url()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("GRANT CREATE ON SCHEMA"), std::string::npos);
}

}  // namespace
}  // namespace rowlock::tests
