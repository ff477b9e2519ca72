// Whatever goes wrong on MariaDB, no message holds a secret.
#include <chrono>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "rowlock/lock_table.hpp"
#include "secrets/spoken.hpp"
#include "support/old_server.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class MysqlSecrets : public mysql_test {
 protected:
  MysqlSecrets() {
    for (const auto& name : names_) {
      database_.execute("create user " + name + " identified by '" + password + "'");
      database_.execute("grant all on " + database_.name() + ".* to " + name);
    }
  }
  ~MysqlSecrets() override {
    for (const auto& name : names_) database_.execute("drop user " + name);
  }

  [[nodiscard]] std::string target_of_user(const std::string& base) const {
    return base.substr(0, base.find(" user=")) + " user=" + user_ + " password=" + password +
           " dbname=" + database_.name();
  }
  [[nodiscard]] std::string target_of_user() const { return target_of_user(target()); }

  void expect_unsaid(const std::string& target) {
    SCOPED_TRACE(target);
    soci_store rows{target, {.connect_timeout = 1s, .answer_timeout = 1s}};
    said_.record(rows);
    said_.expect_no_secret(target);
  }

  /// Runs before a row of the lock table is made.
  void create_trigger(const std::string& body) {
    database_.execute("create trigger disturbing before insert on shared_lock for each row begin " +
                      body + "; end");
  }

  const std::string user_ = "u_" + make_owner_id().text.substr(0, 20);
  // A server may have a user without a name at localhost, which would go before '%'.
  const std::array<std::string, 2> names_{user_ + "@'%'", user_ + "@'localhost'"};
  spoken said_{database_.name()};
};

TEST_F(MysqlSecrets, AreUnsaidWhenThereIsNoConnection) {
  expect_unsaid(target_of_user() + "x password=" + password + "x");  // a wrong one
  expect_unsaid(target_of_user(target_at(1)));
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheConnectionStringIsWrong) {
  for (const auto& text : std::vector<std::string>{
           "mysql://password='" + password + "' host", "mysql://password=" + password + "'",
           "mysql://reconnect=1 password=" + password, "mysql://sslkey=x password=" + password,
           "mysql://app:" + password + "@db/shop", target_of_user() + " sslca=/no/such/file",
           "oracle://password=" + password, password, "mysql://host= password=" + password,
           "mysql://unix_socket= password=" + password,
           "mysql://host=127.0.0.1 port= password=" + password}) {
    SCOPED_TRACE(text);
    said_.record_error_of([&] {
      soci_store rows{text};
      (void)rows.list();
    });
    said_.record_error_of([&] { migrate_soci(text); });
    said_.expect_no_secret(text);
  }
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheServerIsTooOld) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  proxy.edit_replies(mysql_that_says_it_is("10.5.29-MariaDB"));
  expect_unsaid(target_of_user(target_at(proxy.port())));
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheTableIsNotWhatItShouldBe) {
  for (const auto* change :
       {"alter table shared_lock modify owner varchar(32) character set utf8mb4 null",
        "alter table shared_lock engine = MyISAM",
        "alter table shared_lock drop column failure_count", "drop table shared_lock",
        "drop table shared_lock_schema"}) {
    SCOPED_TRACE(change);
    database_.execute(change);
    expect_unsaid(target_of_user());
  }
}

TEST_F(MysqlSecrets, AreUnsaidWhenAPrivilegeIsMissing) {
  for (const auto& name : names_) {
    database_.execute("revoke all on " + database_.name() + ".* from " + name);
    database_.execute("grant select on " + database_.name() + ".* to " + name);
  }
  expect_unsaid(target_of_user());
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheTableTakesNoOwner) {
  database_.execute("alter table shared_lock add check (owner is null)");
  expect_unsaid(target_of_user());
}

TEST_F(MysqlSecrets, AreUnsaidWhenATriggerSaysThem) {
  create_trigger(
      "declare said text default concat('no owner ', new.owner); "
      "signal sqlstate '45000' set message_text = said");
  expect_unsaid(target_of_user());
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheConnectionBreaksUnderAStatement) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  proxy.swallow_reply("INSERT");
  expect_unsaid(target_of_user(target_at(proxy.port())));
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheServerEndsASession) {
  create_trigger("kill connection_id()");
  expect_unsaid(target_of_user());
}

TEST_F(MysqlSecrets, AreUnsaidWhenTheLeaseOfAFenceIsLost) {
  soci_store rows{target_of_user()};
  lock_table locks{rows};
  const auto held = *locks.try_acquire(key_);
  database_.execute("update shared_lock set version = version + 1");
  ::soci::session session{target_of_user()};
  said_.record_error_of([&] {
    const soci_transaction work{session};
    fence(session, held);
  });
  said_.expect_no_secret(target_of_user());
}

}  // namespace
}  // namespace rowlock::tests
