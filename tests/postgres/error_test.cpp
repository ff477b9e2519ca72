// What goes wrong on a server that can be reached, and what the error says to do.
#include "postgres/postgres_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresError : public postgres_table {
 protected:
  void expect_everywhere(const std::string& url, errc kind, const std::string& words) {
    postgres_store rows{url, {.table = table()}};
    const std::vector<std::function<void()>> calls{
        [&] { acquire(rows, key_); },
        [&] { renew(rows, key_, {1}); },
        [&] { release(rows, key_, {1}); },
        [&] { rows.read(std::array{key_}, read_mode::ready_to_commit); },
    };
    for (const auto& call : calls) expect(call, kind, words);
    pqxx::connection connection{url};
    expect(
        [&] {
          pqxx::work work{connection};
          (void)lock_rows(work, key_, no_wait(), table());
        },
        kind, words);
    expect(
        [&] {
          pqxx::work work{connection};
          (void)try_commit(work, key_, {1}, table());
        },
        kind, words);
  }

  static void expect(const std::function<void()>& call, errc kind, const std::string& words) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, kind) << caught.message();
    EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
  }
};

TEST_F(PostgresError, OfAMissingTableSaysHowToMigrate) {
  auto rows = open_store();
  (void)rows.list();
  postgres_schema::execute(postgres_migrations(table()).front().down);
  // Of a store that has read the schema before, too.
  expect([&] { (void)rows.list(); }, errc::rejected,
         "run `rowlock migrate <URL> --table " + name() + '`');
  expect_everywhere(postgres_url(), errc::rejected,
                    "run `rowlock migrate <URL> --table " + name() + '`');
}

TEST_F(PostgresError, OfAMissingSchemaSaysSo) {
  postgres_store rows{postgres_url(), {.table = "no_such_schema.shared_lock"}};
  const auto caught = error_of([&] { (void)rows.list(); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("rowlock migrate"), std::string::npos);
}

TEST_F(PostgresError, OfAnOlderOrNewerSchemaSaysWhatToDeploy) {
  server_.query(table().in("update shared_lock_schema set number = 0"));
  auto older = open_store();
  expect([&] { (void)older.list(); }, errc::rejected, "run `rowlock migrate <URL>");
  server_.query(table().in("update shared_lock_schema set number = 99"));
  auto newer = open_store();
  expect([&] { (void)newer.list(); }, errc::rejected, "deploy a newer rowlock");
}

TEST_F(PostgresError, IsAskedAgainUntilTheSchemaIsThere) {
  const auto step = postgres_migrations(table()).front();
  postgres_schema::execute(step.down);
  auto rows = open_store();
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::rejected);
  postgres_schema::execute(step.up);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(PostgresError, OfATableThatSomebodyLocksComesSoonAndSaysWhy) {
  postgres_store rows{postgres_url(), {.table = table(), .lock_timeout = 20ms}};
  const auto granted = acquire(rows, key_);
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  expect([&] { acquire(rows, other_key_); }, errc::unavailable, "ALTER TABLE");
  expect([&] { renew(rows, key_, *granted.version); }, errc::unavailable, "ALTER TABLE");
  expect([&] { release(rows, key_, *granted.version); }, errc::unavailable, "ALTER TABLE");
  rival.work.abort();
  EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
}

TEST_F(PostgresError, OfAMissingPrivilegeSaysWhatToGrant) {
  test_role role{server_};
  const std::string to_it = " to " + role.name();
  server_.query("grant usage on schema " + schema() + to_it);
  auto rows = open_store(role.url());
  expect([&] { acquire(rows, key_); }, errc::rejected,
         "GRANT SELECT, INSERT, UPDATE ON \"" + schema());
  expect([&] { rows.list(); }, errc::rejected, "run `GRANT SELECT ON \"" + schema());
  server_.query(table().in("grant select on shared_lock, shared_lock_schema") + to_it);
  expect_everywhere(role.url(), errc::rejected, "GRANT SELECT, INSERT, UPDATE ON \"" + schema());
  EXPECT_TRUE(rows.list().empty());
  server_.query(table().in("grant insert, update on shared_lock") + to_it);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  expect([&] { rows.purge({.older_than = std::chrono::hours{1}}); }, errc::rejected,
         "GRANT DELETE, UPDATE (fence_count) ON \"" + schema());
  pqxx::connection connection{role.url()};
  pqxx::work work{connection};
  EXPECT_TRUE(lock_rows(work, other_key_, no_wait(), table()).acquired());
}

TEST_F(PostgresError, OfATriggersMissingPrivilegeIsNotThatOfTheRoleAlone) {
  test_role owner{server_};
  server_.query("create table " + schema() + ".audit (at timestamptz)");
  server_.query(
      "create function " + schema() +
      ".note() returns trigger language plpgsql security definer as $$ begin insert into " +
      schema() + ".audit values (now()); return new; end $$");
  server_.query("grant usage, create on schema " + schema() + " to " + owner.name());
  server_.query("alter function " + schema() + ".note() owner to " + owner.name());
  server_.query("create trigger noting before insert on " + name() +
                " for each row execute function " + schema() + ".note()");
  auto rows = open_store();
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("the owner of the trigger's function"), std::string::npos)
      << caught.message();
  EXPECT_NE(caught.messages.back().find("permission denied for table audit"), std::string::npos);
  server_.query("alter function " + schema() + ".note() owner to current_user");
}

TEST_F(PostgresError, OfAMissingPrivilegeToPurgeNamesAllThatIsMissing) {
  test_role role{server_};
  const std::string to_it = " to " + role.name();
  server_.query("grant usage on schema " + schema() + to_it);
  server_.query(table().in("grant select on shared_lock, shared_lock_schema") + to_it);
  auto rows = open_store(role.url());
  const auto purge = [&] { rows.purge({.older_than = std::chrono::hours{1}}); };
  const std::string needed = "GRANT DELETE, UPDATE (fence_count) ON \"" + schema();
  expect(purge, errc::rejected, needed);
  server_.query(table().in("grant delete on shared_lock") + to_it);
  expect(purge, errc::rejected, needed);  // it locks the rows that it deletes
  server_.query(table().in("grant delete, update (fence_count) on shared_lock") + to_it);
  EXPECT_NO_THROW(purge());
}

TEST_F(PostgresError, OfAReadOnlyServerIsUnavailableAndNeverHeld) {
  const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
  const auto read_only = postgres_url() + separator +
                         "options=-c%20default_transaction_read_only%3Don"
                         "&target_session_attrs=primary";  // not to be passed over for that
  expect_everywhere(read_only, errc::unavailable, "or the transaction is");
  auto rows = open_store(read_only);
  EXPECT_FALSE(rows.read(std::array{key_})[0]);
  EXPECT_TRUE(rows.list().empty());
}

TEST_F(PostgresError, OfATableNameThatIsNoIdentifierIsMisuse) {
  for (const auto* bad : {"a\"b", "a'b", "\"a\"", "a.b.c", "a b", "", "a;b", "s.\"t\""}) {
    EXPECT_EQ(error_of([&] {
                postgres_store{postgres_url(), {.table = bad}};
              }).kind,
              errc::misuse)
        << bad;
    EXPECT_EQ(error_of([&] { migrate_postgres(postgres_url(), bad); }).kind, errc::misuse) << bad;
  }
  open_work open;
  for (const auto* bad : {"a\"b", "a b", ""}) {
    EXPECT_EQ(error_of([&] {
                (void)try_commit(open.work, {"t", bad, "version"}, 1, 1);
              }).kind,
              errc::misuse);
    EXPECT_EQ(error_of([&] {
                (void)try_commit(open.work, {bad, "id", "version"}, 1, 1);
              }).kind,
              errc::misuse);
    EXPECT_EQ(error_of([&] {
                (void)try_commit(open.work, {"t", "id", bad}, 1, 1);
              }).kind,
              errc::misuse);
  }
  open.work.exec("select 1");
}

TEST_F(PostgresError, OfATransactionThatIsAbortedSaysToRollItBack) {
  open_work open;
  EXPECT_ANY_THROW(open.work.exec("select 1 / 0"));
  const auto caught = error_of([&] { (void)lock_rows(open.work, key_, no_wait(), table()); });
  EXPECT_EQ(caught.kind, errc::misuse);
}

TEST_F(PostgresError, OfATransactionThatIsOverIsMisuse) {
  open_work committed;
  committed.work.commit();
  EXPECT_EQ(error_of([&] { (void)lock_rows(committed.work, key_, no_wait(), table()); }).kind,
            errc::misuse);
  open_work rolled_back;
  rolled_back.work.abort();
  EXPECT_EQ(error_of([&] { (void)read_version(rolled_back.work, key_, table()); }).kind,
            errc::misuse);
}

TEST_F(PostgresError, OfANontransactionIsMisuseWithoutARoundTrip) {
  pqxx::connection connection{postgres_url()};
  pqxx::nontransaction autocommit{connection};
  server_.query("select pg_terminate_backend(" + std::to_string(connection.backendpid()) +
                ", 10000)");
  const auto expect_misuse = [](const std::function<void()>& call) {
    expect(call, errc::misuse, "pqxx::work");
  };
  expect_misuse([&] { (void)lock_rows(autocommit, key_, no_wait(), table()); });
  expect_misuse([&] { (void)read_version(autocommit, key_, table()); });
  expect_misuse([&] { (void)try_commit(autocommit, key_, {1}, table()); });
  expect_misuse([&] { (void)try_commit(autocommit, {"t", "id", "version"}, 1, 1); });
}

TEST_F(PostgresError, OfAValueThatATableDoesNotTakeHidesIt) {
  server_.query("create table " + schema() + ".entity (id bigint primary key, version bigint)");
  open_work open;
  const auto caught = error_of([&] {
    (void)try_commit(open.work, {schema() + ".entity", "id", "version"}, "sesame", 1);
  });
  EXPECT_EQ(caught.kind, errc::misuse);
  for (const auto& message : caught.messages) EXPECT_EQ(message.find("sesame"), std::string::npos);
}

TEST_F(PostgresError, OfAnApplicationsMissingTableIsRejectedWithTheServersWordsNested) {
  open_work open;
  const auto caught = error_of([&] {
    (void)try_commit(open.work, {"no_such_table", "id", "version"}, 1, 1);
  });
  EXPECT_EQ(caught.kind, errc::rejected);
  ASSERT_EQ(caught.messages.size(), 2U);
  EXPECT_NE(caught.messages[1].find("no_such_table"), std::string::npos);
}

TEST_F(PostgresError, IsRejectedWhereItComesAgainAndUnavailableWhereItMayPass) {
  server_.query("create function " + schema() + ".raise() returns trigger language plpgsql as " +
                "$$ begin raise 'no' using errcode = current_setting('rowlock.state'); end $$");
  server_.query("create trigger raising before insert on " + name() +
                " for each row execute function " + schema() + ".raise()");
  const auto expect_all = [&](errc kind, std::initializer_list<const char*> states) {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    for (const std::string state : states) {
      auto rows = open_store(postgres_url() + separator + "options=-c%20rowlock.state%3D" + state);
      const auto caught = error_of([&] { acquire(rows, key_); });
      EXPECT_EQ(caught.kind, kind) << state << ": " << caught.message();
    }
  };
  expect_all(errc::rejected, {"P0001", "0A000", "21000", "42883", "42P10", "54000"});
  expect_all(errc::misuse, {"22001", "23514"});
  expect_all(errc::unavailable, {"53100", "53200", "55P04", "57014", "58030", "XX000"});
  auto full = open_store(url_with("options=-c%20rowlock.state%3D53200"));
  expect([&] { acquire(full, key_); }, errc::unavailable, "raise max_locks_per_transaction");
}

TEST_F(PostgresError, OfAStatementThatTakesTooLongIsUnavailable) {
  postgres_store rows{url_with("options=-c%20lock_timeout%3D0"),
                      {.table = table(), .statement_timeout = 100ms}};
  await_first_answer(rows);
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  expect([&] { acquire(rows, key_); }, errc::unavailable, "took too long");
}

}  // namespace
}  // namespace rowlock::tests
