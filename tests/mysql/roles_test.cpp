// The users of docs/security.md: each can do its work, and nothing else.
#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "support/documented.hpp"

namespace rowlock::tests {
namespace {

constexpr std::array roles{"installer", "locker", "fencer", "reader", "purger"};
// A server may have a user without a name at localhost, which would go before '%'.
constexpr std::array hosts{"@'%'", "@'localhost'"};

/// Database and users as in the document, under names of their own.
class MysqlRoles : public testing::Test {
 public:
  ~MysqlRoles() override {
    for (const auto* host : hosts) {
      for (const auto* role : roles) drop(name_of(role) + host);
    }
  }

 protected:
  MysqlRoles() {
    execute_documented("CREATE USER");
    migrate_soci(target_of("installer"), {}, history_option::with);
    execute_documented("INSERT, UPDATE");
    execute_documented("SELECT ON app.shared_lock_event");
  }

  void execute_documented(const std::string& words) const {
    const auto block =
        documented({ROWLOCK_DOCUMENTED_SECURITY, "Roles on MariaDB and MySQL"}, "sql", words);
    for (const auto* host : hosts) {
      auto sql = with_each(with_each(block, "app.", database_.name() + '.'), "'...'", "'sesame'");
      for (const auto* role : roles) {
        sql = with_each(sql, std::string{"app_"} + role, name_of(role) + host);
      }
      database_.execute(sql);
    }
  }
  void drop(const std::string& user) const {
    try {
      database_.execute("drop user if exists " + user);
    } catch (const std::exception& thrown) {
      std::cerr << "the user " << user << " stays behind: " << thrown.what() << '\n';
    }
  }
  [[nodiscard]] std::string name_of(const std::string& role) const { return prefix_ + role; }
  [[nodiscard]] std::string target_of(const std::string& role) const {
    const auto base = database_.target();
    return base.substr(0, base.find(" user=")) + " user=" + name_of(role) +
           " password=sesame dbname=" + database_.name();
  }

  void lease_as(const std::string& role, const std::vector<lock_key>& keys) const {
    soci_store rows{target_of(role), {.pool_size = 1}};
    const auto mine = make_owner_id();
    std::vector<acquire_request> wanted;
    for (const auto& key : keys) wanted.push_back({key, mine, "host:1", 1h});
    std::vector<renew_request> renewed;
    std::vector<release_request> released;
    for (const auto& granted : rows.acquire(wanted)) {
      const auto& key = keys[renewed.size()];
      renewed.push_back({key, mine, granted.version.value(), 1h});
      released.push_back({key, mine, granted.version.value()});
    }
    const auto all = std::ssize(keys);
    if (std::ranges::count(rows.renew(renewed), change_answer::done) != all ||
        std::ranges::count(rows.release(released), change_answer::done) != all) {
      throw std::logic_error{"refused"};
    }
  }
  /// With a lease that another user took.
  void prove_as(const std::string& role,
                const std::function<void(::soci::session&, const lease&)>& prove) const {
    soci_store rows{database_.target()};
    lock_table locks{rows};
    const lease held = *locks.try_acquire({"job", role});
    ::soci::session session{target_of(role)};
    session.begin();
    prove(session, held);
    session.commit();
  }
  void lock_rows_as(const std::string& role) const {
    ::soci::session session{target_of(role)};
    soci_transaction work{session};
    if (!lock_rows(work, key_, no_wait()).acquired()) throw std::logic_error{"refused"};
    work.commit();
  }
  void commit_as(const std::string& role) const {
    ::soci::session session{target_of(role)};
    soci_transaction work{session};
    if (try_commit(session, key_, *read_version(session, key_)) != commit_result::committed) {
      throw std::logic_error{"stale"};
    }
    work.commit();
  }
  void list_as(const std::string& role) const {
    soci_store rows{target_of(role), {.pool_size = 1}};
    rows.list();
  }
  void operate_as(const std::string& role) const {
    soci_store holder{database_.target()};
    lock_table locks{holder};
    const lease held = *locks.try_acquire({"job", role});
    soci_store rows{target_of(role), {.pool_size = 1}};
    if (rows.force_release({.key = held.key(), .version = held.token(), .reason = "a test"}) !=
        force_answer::released) {
      throw std::logic_error{"refused"};
    }
  }
  void purge_as(const std::string& role) const {
    soci_store rows{target_of(role), {.pool_size = 1}};
    if (rows.purge({.older_than = 1h}).purged != 1) throw std::logic_error{"nothing was purged"};
  }
  void execute_as(const std::string& role, const std::string& sql) const {
    ::soci::session session{target_of(role)};
    session << sql;
  }

  /// Whether the server lets it; a refusal must be reported in the right way.
  static bool is_let(const std::string& what, const std::function<void()>& act) {
    try {
      act();
      return true;
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::rejected) << what << ": " << thrown.what();
      EXPECT_NE(std::string{thrown.what()}.find("GRANT SELECT, INSERT, UPDATE ON shared_lock TO"),
                std::string::npos)
          << what << ": " << thrown.what();
    } catch (const ::soci::mysql_soci_error& thrown) {
      EXPECT_TRUE(thrown.err_num_ == 1142 || thrown.err_num_ == 1143)
          << what << ": " << thrown.what();
    }
    return false;
  }

  const std::string prefix_ = "r" + make_owner_id().text.substr(0, 16) + '_';
  mysql_database database_;
  const lock_key key_{"job", "nightly"};
};

TEST_F(MysqlRoles, OfTheDocumentCanDoTheirWorkAndNothingElse) {
  const auto executing = [this](const std::string& sql) {
    return [this, sql](const std::string& role) { execute_as(role, sql); };
  };
  const std::map<std::string, std::function<void(const std::string&)>> acts{
      {"lease", [&](const auto& role) { lease_as(role, {key_}); }},
      {"lease several",
       [&](const auto& role) {
         lease_as(role, {{"job", "weekly"}, {"job", "yearly"}});
       }},
      {"fence",
       [&](const auto& role) {
         prove_as(role, [](auto& session, const auto& held) { fence(session, held); });
       }},
      {"fence by sharing",
       [&](const auto& role) {
         prove_as(role, [](auto& session, const auto& held) {
           fence(session, held, {.kind = fence_kind::share});
         });
       }},
      {"release with",
       [&](const auto& role) {
         prove_as(role, [](auto& session, const auto& held) { release_with(session, held); });
       }},
      {"lock rows", [&](const auto& role) { lock_rows_as(role); }},
      {"commit", [&](const auto& role) { commit_as(role); }},
      {"list", [&](const auto& role) { list_as(role); }},
      {"release by force", [&](const auto& role) { operate_as(role); }},
      {"purge", [&](const auto& role) { purge_as(role); }},
      {"keep busy", executing("select 1 from shared_lock for update")},
      {"steal",
       executing(
           "update shared_lock set owner = repeat('f', 32), holder = 'me', acquired_at = now()")},
      {"delete", executing("delete from shared_lock where owner is null")},
      {"empty", executing("truncate shared_lock")},
      {"alter", executing("alter table shared_lock add x int")},
      {"create", executing("create table another (x int)")},
      {"see events", executing("select count(*) from shared_lock_event")},
      {"add events", executing("insert into shared_lock_event (at, lock_type, source_id, what, "
                               "version) values (now(6), 'job', 'nightly', 'released', 1)")},
      {"change events", executing("update shared_lock_event set holder = 'me'")},
      {"delete events", executing("delete from shared_lock_event")},
      {"forge", executing("delete from shared_lock_schema")}};
  const std::map<std::string, std::set<std::string>> may{
      {"locker",
       {"lease", "lease several", "fence", "fence by sharing", "release with", "lock rows",
        "commit", "list", "release by force", "keep busy", "steal"}},
      {"fencer", {"fence", "fence by sharing", "list", "keep busy"}},
      {"reader", {"fence by sharing", "list", "keep busy", "see events"}},
      {"purger",
       {"fence by sharing", "list", "purge", "delete", "keep busy", "see events",
        "delete events"}}};
  for (const auto& [role, its_acts] : may) {
    std::set<std::string> done;
    for (const auto& [name, act] : acts) {
      database_.execute(
          "delete from shared_lock; insert into shared_lock (lock_type, source_id, "
          "version) values ('job', 'nightly', 1)");
      if (is_let(role + ' ' + name, [&act = act, &role = role] { act(role); })) done.insert(name);
    }
    EXPECT_EQ(done, its_acts) << role;
  }
}

TEST_F(MysqlRoles, AreSeenByAnInspection) {
  using use = inspection::use;
  const std::map<std::string, std::set<use>> lacking{
      {"installer", {}},
      {"locker", {use::purge}},
      {"fencer", {use::lock, use::purge}},
      {"reader", {use::lock, use::fence, use::purge}},
      {"purger", {use::lock, use::fence}}};
  for (const auto& [role, uses] : lacking) {
    soci_store rows{target_of(role), {.pool_size = 1}};
    const auto inspected = rows.inspect();
    std::set<use> found;
    for (const auto& each : inspected.missing_rights.value()) found.insert(each.needed_for);
    EXPECT_EQ(found, uses) << role;
  }
  soci_store rows{target_of("reader"), {.pool_size = 1}};
  EXPECT_EQ(rows.inspect().missing_rights.value().front().right, "INSERT on shared_lock");
}

TEST_F(MysqlRoles, OnColumnsAloneAreEnoughToList) {
  const auto columns = database_.value(
      "select group_concat(column_name) from information_schema.columns"
      " where table_schema = database() and table_name = 'shared_lock'");
  for (const auto* host : hosts) {
    const auto reader = name_of("reader") + host;
    database_.execute("revoke select on shared_lock from " + reader + "; grant select (" + columns +
                      ") on shared_lock to " + reader);
  }
  EXPECT_TRUE(is_let("list", [&] { list_as("reader"); }));
}

TEST_F(MysqlRoles, WhoInstallsCanTakeEverythingBackAndTouchNothingElse) {
  for (const auto& step : mysql_migrations()) database_.execute(step.down);
  migrate_soci(target_of("installer"));
  execute_as("installer", "truncate shared_lock");
  EXPECT_FALSE(is_let("create", [&] { execute_as("installer", "create table another (x int)"); }));
}

TEST_F(MysqlRoles, WhoMayNotMigrateIsToldWhatToGrant) {
  for (const auto& step : mysql_migrations()) database_.execute(step.down);
  const auto caught = error_of([&] { migrate_soci(target_of("reader")); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("GRANT ALL ON shared_lock TO"), std::string::npos)
      << caught.message();
}

}  // namespace
}  // namespace rowlock::tests
