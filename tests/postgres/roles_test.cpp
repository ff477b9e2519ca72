// The roles of docs/security.md: each can do its work, and nothing else.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/documented.hpp"

namespace rowlock::tests {
namespace {

constexpr std::array roles{"installer", "locker", "fencer", "reader", "purger"};

/// Schema and roles as in the document, under names of their own.
class PostgresRoles : public testing::Test {
 public:
  ~PostgresRoles() override {
    for (const auto* role : roles) {
      const auto name = schema_.name() + '_' + role;
      server_.query("drop owned by " + name + " cascade");
      server_.query("drop role " + name);
    }
  }

 protected:
  PostgresRoles() {
    server_.query(documented_sql("CREATE ROLE"));
    for (const auto* role : roles) {  // for a server that requires it
      server_.query("alter role " + schema_.name() + '_' + role + " password 'rowlock'");
    }
    migrate_postgres(url_of("installer"), table_, history_option::with);
    pqxx::connection installer{url_of("installer")};
    pqxx::nontransaction granting{installer};
    granting.exec(documented_sql("REVOKE"));
    granting.exec(documented_sql("GRANT INSERT ON"));
  }

  [[nodiscard]] std::string documented_sql(const std::string& words) const {
    const auto block =
        documented({ROWLOCK_DOCUMENTED_SECURITY, "Roles on PostgreSQL"}, "sql", words);
    return with_each(block, "app", schema_.name());
  }

  [[nodiscard]] std::string url_of(const std::string& role) const {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    return postgres_url() + separator + "user=" + schema_.name() + '_' + role + "&password=rowlock";
  }

  void lease_as(const std::string& role) {
    postgres_store rows{url_of(role), {.table = table_, .pool_size = 1}};
    lock_table locks{rows};
    auto held = locks.try_acquire(key_);
    if (!held.acquired() || held->release() != release_result::released) {
      throw std::logic_error{"refused"};
    }
  }
  void set_read_only(const std::string& role, const std::string& value) {
    server_.query("alter role " + schema_.name() + '_' + role +
                  " set default_transaction_read_only = " + value);
  }
  /// A lease that another role took.
  void fence_as(const std::string& role) {
    postgres_store rows{postgres_url(), {.table = table_}};
    lock_table locks{rows};
    const lease held = *locks.try_acquire({"job", role});
    pqxx::connection connection{url_of(role)};
    pqxx::work work{connection};
    fence(work, held, {}, table_);
    work.commit();
  }
  void fence_two_as(const std::string& role) {
    postgres_store rows{postgres_url(), {.table = table_}};
    lock_table locks{rows};
    const auto held = *locks.try_acquire_all({{"job", role}, {"job", "another"}});
    pqxx::connection connection{url_of(role)};
    pqxx::work work{connection};
    fence(work, held, {}, table_);
    work.commit();
  }
  void lock_rows_as(const std::string& role) {
    pqxx::connection connection{url_of(role)};
    pqxx::work work{connection};
    if (!lock_rows(work, key_, no_wait(), table_).acquired()) throw std::logic_error{"refused"};
    work.commit();
  }
  void commit_as(const std::string& role) {
    pqxx::connection connection{url_of(role)};
    pqxx::work work{connection};
    if (try_commit(work, key_, *read_version(work, key_, table_), table_) !=
        commit_result::committed) {
      throw std::logic_error{"stale"};
    }
    work.commit();
  }
  void list_as(const std::string& role) {
    postgres_store rows{url_of(role), {.table = table_, .pool_size = 1}};
    rows.list();
  }
  void force_as(const std::string& role) {
    postgres_store rows{postgres_url(), {.table = table_}};
    lock_table locks{rows};
    const lease held = *locks.try_acquire({"force", role});
    postgres_store forcing{url_of(role), {.table = table_, .pool_size = 1}};
    if (forcing.force_release({.key = held.key(), .version = held.token(), .reason = "a test"}) !=
        force_answer::released) {
      throw std::logic_error{"not released"};
    }
  }
  void purge_as(const std::string& role) {
    postgres_store rows{url_of(role), {.table = table_, .pool_size = 1}};
    rows.purge({.older_than = 1h});
  }
  void execute_as(const std::string& role, const std::string& sql) {
    pqxx::connection connection{url_of(role)};
    pqxx::nontransaction direct{connection};
    direct.exec(table_.in(sql));
  }

  postgres_schema schema_;
  const table_name table_ = schema_.table();
  observer server_;
  const lock_key key_{"job", "nightly"};
};

TEST_F(PostgresRoles, OfTheDocumentCanDoTheirWorkAndNothingElse) {
  const std::map<std::string, std::function<void(const std::string&)>> acts{
      {"lease", [&](const auto& role) { lease_as(role); }},
      {"fence", [&](const auto& role) { fence_as(role); }},
      {"fence two", [&](const auto& role) { fence_two_as(role); }},
      {"lock rows", [&](const auto& role) { lock_rows_as(role); }},
      {"commit", [&](const auto& role) { commit_as(role); }},
      {"list", [&](const auto& role) { list_as(role); }},
      {"force", [&](const auto& role) { force_as(role); }},
      {"purge", [&](const auto& role) { purge_as(role); }},
      {"steal",
       [&](const auto& role) {
         execute_as(role, "update shared_lock set owner = repeat('f', 32)");
       }},
      {"delete",
       [&](const auto& role) { execute_as(role, "delete from shared_lock where owner is null"); }},
      {"empty", [&](const auto& role) { execute_as(role, "truncate shared_lock"); }},
      {"alter", [&](const auto& role) { execute_as(role, "alter table shared_lock add x int"); }},
      {"see events",
       [&](const auto& role) { execute_as(role, "select count(*) from shared_lock_event"); }},
      {"add events",
       [&](const auto& role) {
         execute_as(role,
                    "insert into shared_lock_event (lock_type, source_id, what, version) "
                    "values ('job', 'nightly', 'released', 1)");
       }},
      {"change events",
       [&](const auto& role) { execute_as(role, "update shared_lock_event set holder = 'me'"); }},
      {"delete events",
       [&](const auto& role) {
         execute_as(role, "delete from shared_lock_event where at < now()");
       }},
      {"forge", [&](const auto& role) { execute_as(role, "delete from shared_lock_schema"); }}};
  const std::map<std::string, std::set<std::string>> may{
      {"locker",
       {"lease", "fence", "fence two", "lock rows", "commit", "list", "force", "steal",
        "add events"}},
      {"fencer", {"fence", "fence two", "list"}},
      {"reader", {"list", "see events"}},
      {"purger", {"fence two", "list", "purge", "delete", "see events", "delete events"}}};
  for (const auto& [role, its_acts] : may) {
    std::set<std::string> done;
    for (const auto& [name, act] : acts) {
      try {
        act(role);
        done.insert(name);
      } catch (const error& thrown) {
        EXPECT_EQ(thrown.kind(), errc::rejected) << role << ' ' << name << ": " << thrown.what();
      } catch (const pqxx::insufficient_privilege&) {
      }
    }
    EXPECT_EQ(done, its_acts) << role;
  }
}

TEST_F(PostgresRoles, AreSeenByAnInspection) {
  using use = inspection::use;
  const std::map<std::string, std::set<use>> lacking{
      {"installer", {}},
      {"locker", {use::purge}},
      {"fencer", {use::lock, use::purge, use::record}},
      {"reader", {use::lock, use::fence, use::purge, use::record}},
      {"purger", {use::lock, use::fence, use::record}}};
  for (const auto& [role, uses] : lacking) {
    postgres_store rows{url_of(role), {.table = table_, .pool_size = 1}};
    const auto inspected = rows.inspect();
    std::set<use> found;
    for (const auto& each : inspected.missing_rights.value()) found.insert(each.needed_for);
    EXPECT_EQ(found, uses) << role;
  }
}

TEST_F(PostgresRoles, AreSeenByAnInspectionWithTheFunctions) {
  pqxx::connection installer{url_of("installer")};
  pqxx::nontransaction revoking{installer};
  revoking.exec("revoke execute on all functions in schema " + schema_.name() + " from " +
                schema_.name() + "_locker");
  postgres_store rows{url_of("locker"), {.table = table_, .pool_size = 1}};
  const auto inspected = rows.inspect();
  const auto& missing = inspected.missing_rights.value();
  std::vector<std::string> rights;
  for (const auto& each : missing) {
    if (each.needed_for == inspection::use::lock) rights.push_back(each.right);
  }
  EXPECT_EQ(rights,
            (std::vector<std::string>{"EXECUTE on function " + table_.in("shared_lock_lock"),
                                      "EXECUTE on function " + table_.in("shared_lock_try"),
                                      "EXECUTE on function " + table_.in("shared_lock_fence")}));
  const auto refused = error_of([&] { lock_rows_as("locker"); });
  EXPECT_EQ(refused.kind, errc::rejected);
  const auto remedy = "GRANT EXECUTE ON FUNCTION " + table_.in("shared_lock_lock") + "(text[]";
  EXPECT_NE(refused.message().find(remedy), std::string::npos) << refused.message();
}

TEST_F(PostgresRoles, LackAFunctionThatIsMissing) {
  for (const auto* function : {"shared_lock_lock", "shared_lock_try", "shared_lock_fence"}) {
    pqxx::connection installer{url_of("installer")};
    pqxx::nontransaction{installer}.exec("drop function " + table_.in(function));
  }
  postgres_store rows{url_of("locker"), {.table = table_, .pool_size = 1}};
  const auto inspected = rows.inspect();
  const auto& missing = inspected.missing_rights.value();
  EXPECT_EQ(std::count_if(missing.begin(), missing.end(),
                          [](const auto& each) { return each.right.starts_with("EXECUTE"); }),
            4);  // three to lock, one of them to fence too
  const auto refused = error_of([&] { fence_as("locker"); });
  EXPECT_EQ(refused.kind, errc::rejected);
  EXPECT_NE(refused.message().find("migrate --print"), std::string::npos) << refused.message();
}

TEST_F(PostgresRoles, OfALockerAddsEventsToTheHistory) {
  lease_as("locker");
  lock_rows_as("locker");
  EXPECT_EQ(server_.value<std::string>("select string_agg(what, ', ' order by at) from " +
                                       schema_.name() + ".shared_lock_event"),
            "released, locked");
}

// As after a failover: the sessions of the pool stay those of a server that takes no writes.
TEST_F(PostgresRoles, WhoseSessionIsReadOnlyGetAnotherSessionAtTheNextCall) {
  set_read_only("locker", "on");
  postgres_store rows{url_of("locker"), {.table = table_, .pool_size = 1}};
  lock_table locks{rows};
  EXPECT_THROW((void)locks.try_acquire(key_), error);
  set_read_only("locker", "off");
  EXPECT_TRUE(locks.try_acquire(key_).acquired());
}

}  // namespace
}  // namespace rowlock::tests
