// Which URLs name which database.
#include "cli/database_url.hpp"

#include <gtest/gtest.h>

#include "cli/cli_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {

namespace {

using engine = database_url::engine;

TEST(DatabaseUrlTest, ThePathOfASqliteUrlIsWhatFollowsTwoSlashes) {
  const database_url url{"sqlite:///var/lib/a folder/locks.db"};
  EXPECT_EQ(url.which(), engine::sqlite);
  EXPECT_EQ(url.target(), "/var/lib/a folder/locks.db");
}

TEST(DatabaseUrlTest, PercentStandsForAByteOfASqlitePath) {
  EXPECT_EQ(database_url{"sqlite:///a%20b%3Fc%25%c3%A4"}.target(), "/a b?c%\u00e4");
}

TEST(DatabaseUrlTest, WhatLibpqTakesIsHandedOnAsItIs) {
  for (const auto* text : {"postgresql://app:p%40ss@db:5433/shop?sslmode=require", "postgres://",
                           "host=db dbname=shop", "  host = db", "password='a://b' host=db"}) {
    const database_url url{text};
    EXPECT_EQ(url.which(), engine::postgresql) << text;
    EXPECT_EQ(url.target(), text);
  }
}

TEST(DatabaseUrlTest, AMySqlUrlIsHandedOnAsSociReadsIt) {
  const database_url all{"mysql://app:p%40s's%5C@db:3307/shop"};
  EXPECT_EQ(all.which(), engine::soci);
  EXPECT_EQ(all.target(),
            R"(mysql:// host='db' port='3307' user='app' password='p@s\'s\\' dbname='shop')");
  EXPECT_EQ(database_url{"mariadb://db"}.target(), "mysql:// host='db'");
  EXPECT_EQ(database_url{"mysql://app@[::1]:3306/"}.target(),
            "mysql:// host='::1' port='3306' user='app'");
}

TEST(DatabaseUrlTest, AMySqlUrlHasTheParametersThatHaveNoOtherPlace) {
  EXPECT_EQ(database_url{"mysql://app@db/shop?sslca=/etc/a%26b.pem&charset=utf8mb4"}.target(),
            "mysql:// host='db' user='app' dbname='shop' sslca='/etc/a&b.pem' charset='utf8mb4'");
  EXPECT_EQ(database_url{"mysql://db?unix_socket=/run/s"}.target(),
            "mysql:// host='db' unix_socket='/run/s'");
}

TEST(DatabaseUrlTest, AParameterThatAMySqlUrlDoesNotHaveIsNamed) {
  try {
    const database_url url{"mysql://app:secret@db/shop?sslca=a&typo=1"};
    FAIL() << url.target();
  } catch (const error& refused) {
    EXPECT_NE(std::string{refused.what()}.find("has the parameter typo beside charset"),
              std::string::npos)
        << refused.what();
  }
}

TEST(DatabaseUrlTest, WhatSociReadsOfMySqlIsHandedOnAsItIs) {
  for (const auto* text : {"mysql://host=db user=app password='a b@c/d'", "mysql:// db = shop",
                           "mysql://unix_socket=/run/s"}) {
    const database_url url{text};
    EXPECT_EQ(url.which(), engine::soci) << text;
    EXPECT_EQ(url.target(), text);
  }
  EXPECT_EQ(database_url{"mariadb://host=db"}.target(), "mysql://host=db");
}

TEST(DatabaseUrlTest, WhatSociReadsIsHandedOnAsItIs) {
  const database_url url{"soci:mysql://db=shop user=app password='a b'"};
  EXPECT_EQ(url.which(), engine::soci);
  EXPECT_EQ(url.target(), "mysql://db=shop user=app password='a b'");
}

TEST(DatabaseUrlTest, OfABackendThatRowlockDoesNotHaveIsWrongUsageOfACommand) {
  const auto refused = run_rowlock({"list", "soci:nosuch://db=shop"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_NE(refused.errors.find("it does through mysql, postgresql, sqlite3"), std::string::npos)
      << refused.errors;
}

TEST(DatabaseUrlTest, AnythingElseIsMisuseAndNotShown) {
  for (const auto* text : {"",
                           "sesame",
                           "sesame@db/shop",
                           "oracle://sesame@db",
                           "mysql://db/shop?password=sesame",
                           "mysql://db:sesame/shop",
                           "mysql://db/shop?sslca=a&user=sesame",
                           "mysql://db/shop?sesame",
                           "mysql://app:ses?ame@db/shop",
                           "mysql://app:?sesame=1@db/shop",
                           "mysql://app:ses#ame@db/shop",
                           "mysql://db/shop#sesame",
                           "mysql://app:sesame%00@db/shop",
                           "mysql://app:sesame%@db/shop",
                           "sqlite:sesame.db",
                           "sqlite://sesame.db",
                           "sqlite:///",
                           "sqlite:///sesame/",
                           "sqlite:///sesame?a=b",
                           "sqlite:///sesame#a",
                           "sqlite:///sesame%",
                           "sqlite:///sesame%2",
                           "sqlite:///sesame%x0",
                           "sqlite:///sesame%00",
                           "SQLITE:///sesame"}) {
    try {
      const database_url url{text};
      FAIL() << text;
    } catch (const error& refused) {
      EXPECT_EQ(refused.kind(), errc::misuse) << text;
      EXPECT_EQ(std::string{refused.what()}.find("sesame"), std::string::npos) << refused.what();
    }
  }
}

}  // namespace

}  // namespace rowlock::tests
