// Passwords are taken out of messages, whatever brought them there.
#include "cli/password_mask.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "cli/say.hpp"

namespace rowlock::tests {
namespace {

std::string masked(const std::string& url, const std::string& text) {
  cli::password_mask mask;
  mask.learn_url(url);
  return mask.apply(text);
}

TEST(PasswordMask, HidesThatOfAUrlAsItIsSpelledAndDecoded) {
  const std::string url = "postgresql://app:se%40same@db/shop";
  EXPECT_EQ(masked(url, "cannot reach " + url), "cannot reach postgresql://app:***@db/shop");
  EXPECT_EQ(masked(url, "no login with se@same"), "no login with ***");
}

TEST(PasswordMask, HidesThatOfAWrongUrl) {
  EXPECT_EQ(masked("mysql://app:ses@me/x@db/shop", "not ses@me/x"), "not ***");
  EXPECT_EQ(masked("mysql://app:sesame%zz@db", "not sesame%zz"), "not ***");
}

TEST(PasswordMask, HidesThatOfKeywordsAndParameters) {
  EXPECT_EQ(masked("host=db password=sesame dbname=shop", "sesame, shop"), "***, shop");
  EXPECT_EQ(masked(R"(host=db password = 'it\'s me' user=app)", "it's me, app"), "***, app");
  EXPECT_EQ(masked("soci:mysql://pass=sesame host=db", "sesame"), "***");
  EXPECT_EQ(masked("postgresql://db/shop?password=ses%61me&user=app", "sesame app"), "*** app");
}

TEST(PasswordMask, HidesAllOfOneWithMarksInIt) {
  EXPECT_EQ(masked("host=db password=sesame&42", "sesame&42"), "***");
  EXPECT_EQ(masked("host=db password=ab&sesame", "ab&sesame"), "***");
  EXPECT_EQ(masked(R"(postgresql:///shop?password=a\b%26cdef)", R"(a\b&cdef, a\b%26cdef)"),
            "***, ***");
  EXPECT_EQ(masked(R"(postgresql:///shop?password="tail&sslmode=x)", R"("tail, x)"), "***, x");
  EXPECT_EQ(masked("postgresql:///shop?password='quoted", "'quoted"), "***");
  EXPECT_EQ(masked(R"(host=db password=a\b&cdef)", R"(in password=a\b&cdef)"), "in password=***");
}

TEST(PasswordMask, HidesAShortOneOnlyWhereItIsOne) {
  EXPECT_EQ(masked("postgresql://app:a@db/shop", "a map of app:a@db, password=a"),
            "a map of app:***@db, password=***");
}

TEST(PasswordMask, LeavesTextsAloneWithoutOne) {
  EXPECT_EQ(masked("postgresql://app@db:5432/shop", "app, db:5432/shop"), "app, db:5432/shop");
  EXPECT_EQ(masked("sqlite:///tmp/locks.db", "/tmp/locks.db"), "/tmp/locks.db");
}

// A store that reads a file with a new URL learns in its own thread.
TEST(PasswordMask, LearnsWhileOtherThreadsPrint) {
  constexpr int passwords = 2000;
  const auto password = [](int n) { return "sesame-of-a-test-" + std::to_string(10'000 + n); };
  cli::hide_passwords_of("postgresql://app:" + password(0) + "@db/shop");
  std::atomic<bool> is_over{false};
  auto shown = std::async(std::launch::async, [&] {
    int times = 0;
    while (!is_over) times += cli::without_passwords(password(0)) == "***" ? 0 : 1;
    return times;
  });
  for (int n = 1; n < passwords; ++n) {
    cli::hide_passwords_of("postgresql://app:" + password(n) + "@db/shop");
  }
  is_over = true;
  EXPECT_EQ(shown.get(), 0);
  EXPECT_EQ(cli::without_passwords(password(0) + password(passwords - 1)), "******");
}

}  // namespace
}  // namespace rowlock::tests
