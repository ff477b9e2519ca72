// What the faults of a MariaDB server become, and that no message holds a secret.
#include <algorithm>
#include <cctype>

#include "mysql/mysql_table.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class MysqlError : public mysql_test {
 public:
  ~MysqlError() override {
    for (const auto& name : names_) database_.execute("drop user if exists " + name);
  }

 protected:
  /// A user of the server, with `grants` on the database.
  void create_user(const std::string& grants) {
    for (const auto& name : names_) {
      database_.execute("create user " + name + " identified by 'sesame'");
      if (!grants.empty()) database_.execute("grant " + grants + " to " + name);
    }
  }

  [[nodiscard]] std::string target_of(const std::string& user, const std::string& password) const {
    const auto base = target();
    return base.substr(0, base.find(" user=")) + " user=" + user + " password=" + password +
           " dbname=" + database_.name();
  }

  static void expect_no_secret(const caught_error& caught, const std::string& secret) {
    for (const auto& message : caught.messages) {
      EXPECT_EQ(message.find(secret), std::string::npos) << message;
    }
  }

  /// Makes a call on a server that says this instead of its greeting.
  void call_greeted_with(unsigned number, const std::string& said) {
    tcp_proxy proxy{"127.0.0.1", server_port()};
    proxy.edit_replies([&](const std::string&) {
      const std::string packet =
          std::string{'\xff', static_cast<char>(number % 256), static_cast<char>(number / 256)} +
          said;
      return std::string{static_cast<char>(packet.size()), 0, 0, 0} + packet;
    });
    soci_store rows{target_at(proxy.port())};
    acquire(rows, key_);
  }
  caught_error greeted_with(unsigned number, const std::string& said) {
    return error_of([&] { call_greeted_with(number, said); });
  }

  const std::string user_ = "u_" + make_owner_id().text.substr(0, 20);
  // A server may have a user without a name at localhost, which would go before '%'.
  const std::array<std::string, 2> names_{user_ + "@'%'", user_ + "@'localhost'"};
};

TEST_F(MysqlError, OfARefusedLoginIsRejectedWithoutThePassword) {
  create_user("");
  soci_store rows{target_of(user_, "sesame1")};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  expect_no_secret(caught, "sesame");
}

TEST_F(MysqlError, OfAStringWithATypoNamesIt) {
  const auto fault_of = [&](const std::string& string) {
    soci_store rows{string};
    return error_of([&] { acquire(rows, key_); });
  };
  const auto named = fault_of("mysql://hots=db password=sesame");
  EXPECT_EQ(named.kind, errc::misuse);
  EXPECT_NE(named.message().find("no parameter hots"), std::string::npos) << named.message();
  expect_no_secret(fault_of("mysql://host=db password=two sesame=1"), "sesame");
}

TEST_F(MysqlError, OfAFileThatIsNotThereSaysWhichOne) {
  const auto caught = error_of([&] { const soci_store rows{target() + " sslca=/no/such/file"}; });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("the file that sslca names is not there"), std::string::npos)
      << caught.message();
}

TEST_F(MysqlError, OfADroppedTableHasNoBackticksInBackticks) {
  database_.execute("drop table shared_lock");
  soci_store rows{target()};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_NE(caught.message().find("run DROP TABLE `"), std::string::npos) << caught.message();
}

TEST_F(MysqlError, OfAnUnreachableServerIsUnavailableWithoutThePassword) {
  soci_store rows{target_at(1) + " password=sesame"};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("to the server at 127.0.0.1:1 (error"), std::string::npos)
      << caught.message();
  expect_no_secret(caught, "sesame");
}

TEST_F(MysqlError, OfAStringThatSociDoesNotTakeIsMisuseWithoutThePassword) {
  soci_store rows{"mysql://password='sesame' host"};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::misuse);
  expect_no_secret(caught, "sesame");
}

TEST_F(MysqlError, OfAMissingPrivilegeIsRejectedAndSaysWhatToGrant) {
  create_user("select on " + database_.name() + ".*");
  soci_store rows{target_of(user_, "sesame")};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("GRANT SELECT, INSERT, UPDATE"), std::string::npos)
      << caught.message();
  expect_no_secret(caught, mine_.text);
}

TEST_F(MysqlError, OfAMissingPrivilegeToReadSaysThatItIsSelect) {
  create_user("insert on " + database_.name() + ".*");
  soci_store rows{target_of(user_, "sesame")};
  const auto caught = error_of([&] { rows.list(); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(
      caught.message().find("run `GRANT SELECT ON shared_lock TO ...; GRANT SELECT ON "
                            "shared_lock_schema TO ...` for the user of this connection; if it "
                            "does more than read"),
      std::string::npos)
      << caught.message();
}

TEST_F(MysqlError, OfAMissingPrivilegeToPurgeSaysThatItIsDelete) {
  create_user("select on " + database_.name() + ".*");
  database_.execute(
      "insert into shared_lock (lock_type, source_id, version) values ('job', 'old', 1)");
  soci_store rows{target_of(user_, "sesame")};
  const auto caught = error_of([&] { rows.purge({.older_than = std::chrono::hours{1}}); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("GRANT DELETE ON"), std::string::npos) << caught.message();
}

TEST_F(MysqlError, OfRowsThatAnotherTableRefersToNamesThemAndPurgesAllOthers) {
  std::vector<lock_key> keys;
  for (int i = 10; i < 30; ++i) keys.push_back({"job", std::to_string(i)});
  rows_.read(keys, read_mode::ready_to_commit);
  database_.execute(
      "update shared_lock set version = 1;"
      "create table child (lock_type varchar(135) character set ascii collate ascii_bin, "
      "source_id varbinary(256), foreign key (lock_type, source_id) references shared_lock "
      "(lock_type, source_id)) engine = InnoDB;"
      "insert into child values ('job', '13'), ('job', '27')");
  const auto answer = rows_.purge({.older_than = 1h});
  EXPECT_EQ(answer.purged, 18U);
  EXPECT_EQ(answer.refused, (std::vector<lock_key>{{"job", "13"}, {"job", "27"}}));
  EXPECT_EQ(number("select count(*) from shared_lock"), 2);
}

TEST_F(MysqlError, OfARowThatATriggerKeepsNamesItAndPurgesAllOthers) {
  create(key_);
  create(other_key_);
  database_.execute(
      "update shared_lock set version = 1;"
      "create trigger keeping before delete on shared_lock for each row begin "
      "if old.source_id = '42' then signal sqlstate '45000'; end if; end");
  const auto answer = rows_.purge({.older_than = 1h});
  EXPECT_EQ(answer.purged, 1U);
  EXPECT_EQ(answer.refused, std::vector<lock_key>{key_});
}

// A trigger does what it does as the account that made it.
TEST_F(MysqlError, OfTheAccountOfATriggerIsNotBlamedOnTheUserOfTheConnection) {
  create_user("all on " + database_.name() + ".*");
  (void)migrate_soci(target_of(user_, "sesame"), {}, history_option::with);
  const auto held = acquire(rows_, key_);
  const auto message = [&] {
    const auto caught = error_of([&] { release(rows_, key_, *held.version); });
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("the account that made a trigger"), std::string::npos)
        << caught.message();
    EXPECT_EQ(caught.message().find("for the user of this connection"), std::string::npos)
        << caught.message();
    return caught.message();
  };
  for (const auto& name : names_) {
    database_.execute("revoke all on " + database_.name() + ".* from " + name);
  }
  EXPECT_NE(message().find("lacks a privilege"), std::string::npos);
  for (const auto& name : names_) database_.execute("drop user " + name);
  EXPECT_NE(message().find("is gone"), std::string::npos);
}

TEST_F(MysqlError, OfAUserWithNoConnectionLeftNamesItsLimit) {
  create_user("all on " + database_.name() + ".*");
  for (const auto& name : names_) {
    database_.execute("alter user " + name + " with max_user_connections 1");
  }
  const ::soci::session only{target_of(user_, "sesame")};
  soci_store rows{target_of(user_, "sesame")};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("the user of this connection has reached its limit "
                                  "max_user_connections"),
            std::string::npos)
      << caught.message();
  EXPECT_EQ(caught.message().find("host and port"), std::string::npos) << caught.message();
}

TEST_F(MysqlError, OfFewConnectionsIsForeseenByAnInspection) {
  create_user("all on " + database_.name() + ".*");
  soci_store rows{target_of(user_, "sesame")};
  EXPECT_EQ(rows.inspect().connection_limit, std::nullopt);
  for (const auto& name : names_) {
    database_.execute("alter user " + name + " with max_user_connections 3");
  }
  soci_store later{target_of(user_, "sesame")};
  EXPECT_EQ(later.inspect().connection_limit, 3);
}

TEST_F(MysqlError, OfAUserWithNoStatementLeftInTheHourNamesItsLimit) {
  create_user("all on " + database_.name() + ".*");
  soci_store rows{target_of(user_, "sesame")};
  ASSERT_EQ(acquire(rows, key_).status, acquire_status::granted);
  for (const auto& name : names_) {
    database_.execute("alter user " + name + " with max_updates_per_hour 1");
  }
  soci_store later{target_of(user_, "sesame")};
  const auto caught = error_of([&] {
    for (int i = 0; i < 3; ++i) acquire(later, {"invoice", std::to_string(i)});
  });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("max_updates_per_hour: wait, or raise it"), std::string::npos)
      << caught.message();
}

TEST_F(MysqlError, OfAServerWithNoConnectionLeftNamesItsLimit) {
  const auto caught = greeted_with(1040, "Too many connections");
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("takes no more connections (max_connections)"), std::string::npos)
      << caught.message();
  EXPECT_EQ(caught.message().find("host and port"), std::string::npos) << caught.message();
}

TEST_F(MysqlError, OfAHostThatTheServerBlocksNamesItsLimit) {
  const auto caught = greeted_with(1129, "Host '10.0.0.1' is blocked");
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("FLUSH HOSTS"), std::string::npos) << caught.message();
  EXPECT_EQ(caught.message().find("host and port"), std::string::npos) << caught.message();
}

TEST_F(MysqlError, OfAnAccountThatWrongPasswordsHaveLockedIsARefusedLogin) {
  const std::string said = "Access denied for user 'app'@'db'";
  for (const unsigned number : {3955U, 4150U}) {
    EXPECT_THROW(call_greeted_with(number, said), login_refused);
    const auto caught = greeted_with(number, said);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("the server refuses the connection"), std::string::npos)
        << caught.message();
  }
}

TEST_F(MysqlError, OfALimitOfTheHourHasTheWordsOfAlterUser) {
  for (const auto& [resource, option] : {std::pair{"max_questions", "MAX_QUERIES_PER_HOUR"},
                                         {"max_updates", "MAX_UPDATES_PER_HOUR"},
                                         {"max_connections_per_hour", "MAX_CONNECTIONS_PER_HOUR"},
                                         {"max_user_connections", "MAX_USER_CONNECTIONS"}}) {
    const auto caught = greeted_with(1226, std::string{"User 'app' has exceeded the '"} + resource +
                                               "' resource (current value: 3)");
    EXPECT_EQ(caught.kind, errc::unavailable);
    auto message = caught.message();
    std::ranges::transform(message, message.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    EXPECT_NE(message.find(std::string{"ALTER USER ... WITH "} + option), std::string::npos)
        << caught.message();
  }
}

TEST_F(MysqlError, OfAValueIsMisuseWithoutTheOwner) {
  for (const std::string secret : {"5e5a3e", "'; drop table shared_lock; --", "\xff\xfe"}) {
    const acquire_request wrong{.key = key_, .owner = {secret}, .holder = "host:1", .ttl = 1h};
    const auto caught = error_of([&] { rows_.acquire(std::array{wrong}); });
    EXPECT_EQ(caught.kind, errc::misuse);
    expect_no_secret(caught, secret);
  }
  EXPECT_EQ(number("select count(*) from shared_lock"), 0);
}

// The server's own text would show it.
TEST_F(MysqlError, OfAValueOfTheApplicationDoesNotShowIt) {
  database_.execute(
      "create table orders (id varchar(20) primary key, version int) engine = InnoDB;"
      "insert into orders values ('sesame', 1);"
      "create trigger refusing before update on orders for each row "
      "signal sqlstate '22007' set mysql_errno = 1292, message_text = 'wrong value: sesame'");
  const auto session = connect();
  soci_transaction work{*session};
  const versioned_table orders{.table = "orders", .id_column = "id", .version_column = "version"};
  const auto caught = error_of([&] { (void)try_commit(*session, orders, "sesame", 1); });
  EXPECT_EQ(caught.kind, errc::misuse);
  expect_no_secret(caught, "sesame");
}

TEST_F(MysqlError, OfATableDroppedMeanwhileIsRejectedWithoutTheOwner) {
  acquire(rows_, key_);
  database_.execute("drop table shared_lock");
  const auto caught = error_of([&] { acquire(rows_, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  expect_no_secret(caught, mine_.text);
}

TEST_F(MysqlError, OfAnAnswerThatGotLostIsUnknownAndAskingAgainAdoptsTheGrant) {
  create(key_);
  tcp_proxy proxy{"127.0.0.1", server_port()};
  soci_store rows{target_at(proxy.port())};
  ASSERT_EQ(release(rows, other_key_, version{1}), change_answer::lost);
  proxy.swallow_reply("UPDATE");
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::outcome_unknown);
  expect_no_secret(caught, mine_.text);

  const auto again = acquire(rows, key_);
  EXPECT_EQ(again.status, acquire_status::granted);
  EXPECT_EQ(again.version->number, number("select version from shared_lock"));
  EXPECT_EQ(release(rows, key_, *again.version), change_answer::done);
}

TEST_F(MysqlError, OfAnAnswerToACommitThatGotLostIsUnknown) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  ::soci::session session{target_at(proxy.port())};
  soci_transaction work{session};
  ASSERT_TRUE(lock_rows(work, key_, no_wait()).acquired());
  proxy.swallow_reply("COMMIT");
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::outcome_unknown);
  EXPECT_EQ(number("select count(*) from shared_lock"), 1);
}

TEST_F(MysqlError, OfSomethingThatIsNoServerIsUnavailable) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  proxy.edit_replies([](const std::string&) {
    return std::string{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"};
  });
  soci_store rows{target_at(proxy.port()), {.connect_timeout = 1s}};
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::unavailable);
}

TEST_F(MysqlError, OfASilentServerComesInTime) {
  tcp_proxy proxy{"127.0.0.1", server_port()};
  soci_store rows{target_at(proxy.port()), {.answer_timeout = 1s}};
  acquire(rows, key_);
  proxy.black_hole();
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::outcome_unknown);
}

}  // namespace
}  // namespace rowlock::tests
