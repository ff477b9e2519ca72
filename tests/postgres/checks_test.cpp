// What the table on PostgreSQL refuses from any session.
#include "postgres/postgres_table.hpp"

namespace rowlock::tests {
namespace {

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
      server_.query(sql);
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

TEST_F(PostgresChecks, BoundNotesAndReasons) {
  const std::string key = "lock_type, source_id, ";
  EXPECT_FALSE(takes(key + "note", "'a', 'a', repeat('\u00e9', 513)"));
  EXPECT_FALSE(takes(key + "force_reason", "'a', 'a', repeat('r', 1025)"));
  EXPECT_TRUE(
      takes(key + "note, force_reason", "'a', 'a', repeat('\u00e9', 512), repeat('r', 1024)"));
}

TEST_F(PostgresChecks, HoldForUpdatesToo) {
  ASSERT_TRUE(takes_id("'a'"));
  EXPECT_FALSE(sets("lock_type", "'a b'"));
  EXPECT_FALSE(sets("source_id", "''"));
  EXPECT_FALSE(sets("done_until", "'infinity'"));
  EXPECT_FALSE(sets("note", "repeat('n', 1025)"));
  EXPECT_FALSE(sets("force_reason", "repeat('r', 1025)"));
}

TEST_F(PostgresChecks, SayWhichRuleWasBroken) {
  try {
    server_.query("insert into " + name() +
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

TEST_F(PostgresChecks, RefuseTimesThatNoClockGives) {
  EXPECT_TRUE(takes("lock_type, source_id, done_until", "'a', 'now', now()"));
  EXPECT_FALSE(takes("lock_type, source_id, done_until", "'a', 'ever', 'infinity'"));
  EXPECT_FALSE(takes("lock_type, source_id, done_until", "'a', 'never', '-infinity'"));
}

}  // namespace
}  // namespace rowlock::tests
