// The schema on PostgreSQL: applied by us, by psql, by many at once; and what its checks refuse.
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <iterator>

#include "backends/postgres_table.hpp"
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
  server_.ask("alter role " + role.name() +
              " set default_transaction_isolation = 'repeatable read'");
  server_.ask("grant usage, create on schema " + schema_.name() + " to " + role.name());
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
  const auto told = error_of([&] { migrate(); });
  EXPECT_EQ(told.kind, errc::rejected);
  EXPECT_NE(told.message().find("99"), std::string::npos);
}

TEST_F(PostgresMigrate, RefusesATableOrATypeThatIsNotOurs) {
  for (const std::string thing : {"table shared_lock", "type shared_lock_note"}) {
    const bool is_table = thing.starts_with("table");
    postgres_schema::execute(table().in("create " + thing + (is_table ? " ()" : " as ()")));
    const auto before = things();
    const auto told = error_of([&] { migrate(); });
    EXPECT_EQ(told.kind, errc::rejected) << thing;
    EXPECT_NE(told.message().find("another name"), std::string::npos) << told.message();
    EXPECT_EQ(things(), before);
    postgres_schema::execute(table().in("drop " + thing));
  }
}

TEST_F(PostgresMigrate, WithoutTheSchemaOrThePrivilegeIsRejected) {
  const auto missing =
      error_of([] { migrate_postgres(postgres_url(), "no_such_schema.shared_lock"); });
  EXPECT_EQ(missing.kind, errc::rejected);
  EXPECT_NE(missing.message().find("create it"), std::string::npos);

  test_role role{server_};
  server_.ask("grant usage on schema " + schema_.name() + " to " + role.name());
  const auto told = error_of([&] { migrate(role.url()); });
  EXPECT_EQ(told.kind, errc::rejected);
  EXPECT_NE(told.message().find("GRANT CREATE ON SCHEMA"), std::string::npos);
}

class PostgresChecks : public postgres_table {
 protected:
  /// Inserts `values` past the library; whether the table took them.
  bool takes(const std::string& columns, const std::string& values) {
    return does("insert into " + name() + " (version, " + columns + ") values (1, " + values + ")");
  }
  /// Sets `column` past the library, in all rows; whether the table let it.
  bool sets(const std::string& column, const std::string& value) {
    return does("update " + name() + " set " + column + " = " + value);
  }
  bool does(const std::string& sql) {
    try {
      server_.ask(sql);
      return true;
    } catch (const pqxx::check_violation&) {
      return false;
    } catch (const pqxx::not_null_violation&) {
      return false;
    }
  }
  bool takes_type(const std::string& literal) {
    return takes("lock_type, source_id", literal + ", 'a'");
  }
  bool takes_id(const std::string& literal) {
    return takes("lock_type, source_id", "'a', " + literal);
  }
};

TEST_F(PostgresChecks, TakeTypesOfTheAllowedBytesAlone) {
  for (const auto* good : {"'A-z_0.9:'", "'scope/type'", "'a#1'", "repeat('t', 64)",
                           "repeat('s', 64) || '/' || repeat('t', 64) || '#9999'"}) {
    EXPECT_TRUE(takes_type(good)) << good;
  }
  for (const auto* bad : {"''",
                          "null",
                          "'a b'",
                          "e'a\\n'",
                          "e'\\na'",
                          "e'a\\nb'",
                          "'j\u00f6b'",
                          "'/a'",
                          "'a/'",
                          "'a/b/c'",
                          "repeat('t', 65)",
                          "repeat('s', 65) || '/t'",
                          "'s/' || repeat('t', 65)",
                          "'a%'",
                          "'#1'",
                          "'a#'",
                          "'a#12345'",
                          "'a#b'",
                          "'a#1#2'",
                          "'a#1/b'",
                          "repeat('t', 65) || '#1'"}) {
    EXPECT_FALSE(takes_type(bad)) << bad;
  }
}

TEST_F(PostgresChecks, CountTheBytesOfIds) {
  for (const auto* good : {"'a'", "repeat('x', 255)", "repeat('\u65e5', 85)", "' '", "e'\\n'"}) {
    EXPECT_TRUE(takes_id(good)) << good;
  }
  for (const auto* bad : {"''", "null", "repeat('x', 256)", "repeat('\u65e5', 86)"}) {
    EXPECT_FALSE(takes_id(bad)) << bad;
  }
}

TEST_F(PostgresChecks, BoundOwnersHoldersAndNotes) {
  const std::string key = "lock_type, source_id, ";
  for (const std::string bad : {"'short'", "repeat('0', 33)", "repeat('g', 32)", "repeat('F', 32)"})
    EXPECT_FALSE(takes(key + "owner", "'a', 'a', " + bad)) << bad;
  EXPECT_FALSE(takes(key + "holder", "'a', 'a', repeat('h', 129)"));
  EXPECT_FALSE(takes(key + "note", "'a', 'a', repeat('\u00e9', 513)"));
  EXPECT_FALSE(takes(key + "force_reason", "'a', 'a', repeat('r', 1025)"));
  EXPECT_TRUE(takes(key + "owner, holder, note, force_reason",
                    "'a', 'a', repeat('0', 32), repeat('h', 128), repeat('\u00e9', 512), "
                    "repeat('r', 1024)"));
}

TEST_F(PostgresChecks, HoldForUpdatesToo) {
  ASSERT_TRUE(takes_id("'a'"));
  EXPECT_FALSE(sets("lock_type", "'a b'"));
  EXPECT_FALSE(sets("source_id", "''"));
  EXPECT_FALSE(sets("owner", "'short'"));
  EXPECT_FALSE(sets("holder", "repeat('h', 129)"));
  EXPECT_FALSE(sets("version", "9000000000000000000"));
  EXPECT_FALSE(sets("expires_at", "'infinity'"));
  EXPECT_FALSE(sets("done_until", "'infinity'"));
  EXPECT_FALSE(sets("note", "repeat('n', 1025)"));
  EXPECT_FALSE(sets("force_reason", "repeat('r', 1025)"));
}

TEST_F(PostgresChecks, SayWhichRuleWasBroken) {
  try {
    server_.ask("insert into " + name() +
                " (version, lock_type, source_id) values (1, 'a b', 'a')");
    ADD_FAILURE() << "it was taken";
  } catch (const pqxx::check_violation& thrown) {
    EXPECT_NE(std::string{thrown.what()}.find("lock_type_is_valid"), std::string::npos)
        << thrown.what();
  }
}

TEST_F(PostgresChecks, KeepKeysApartThatOnlyALanguageFindsEqual) {
  for (const auto* id :
       {"'strasse'", "'STRASSE'", "'stra\u00dfe'", "'strasse '", "'\u00e9'", "'e\u0301'"}) {
    EXPECT_TRUE(takes_id(id)) << id;
  }
}

TEST_F(PostgresChecks, RefuseVersionsAndTimesThatNoClockGives) {
  EXPECT_TRUE(takes("lock_type, source_id, expires_at", "'a', 'now', now()"));
  EXPECT_FALSE(takes("lock_type, source_id, expires_at", "'a', 'ever', 'infinity'"));
  EXPECT_FALSE(takes("lock_type, source_id, expires_at", "'a', 'never', '-infinity'"));
  EXPECT_FALSE(takes("lock_type, source_id, done_until", "'a', 'ever', 'infinity'"));
  EXPECT_TRUE(sets("version", "8999999999999999999"));
}

}  // namespace
}  // namespace rowlock::tests
