// The text of a lease that is passed on.
#include "lease/passed_lease.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rowlock/error.hpp"

namespace rowlock::detail {
namespace {

bool is_misuse(const std::string& text) {
  try {
    to_passed_lease(text);
  } catch (const error& refused) {
    EXPECT_EQ(std::string{refused.what()}.find("0123456789abcdef"), std::string::npos)
        << "the message has the secret";
    return refused.kind() == errc::misuse;
  }
  return false;
}

const passed_lease some{.key = {.type = "eu/invoice#7", .source_id = "Zürich. %41/\n"},
                        .owner = {"0123456789abcdef0123456789abcdef"},
                        .token = {1'769'000'000'000'001}};

TEST(PassedLease, ComesBackFromItsText) {
  const auto text = to_text(some);
  const auto back = to_passed_lease(text);
  EXPECT_EQ(back.key, some.key);
  EXPECT_EQ(back.owner, some.owner);
  EXPECT_EQ(back.token, some.token);
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "-_.%"),
            std::string::npos);
}

TEST(PassedLease, WithTheLongestKeyFitsItsBound) {
  const passed_lease longest{
      .key = {.type = std::string(64, ':') + '/' + std::string(64, ':') + "#1234",
              .source_id = std::string(255, ' ')},
      .owner = some.owner,
      .token = {9'223'372'036'854'775'807}};
  EXPECT_LE(to_text(longest).size(), 1300U);
}

TEST(PassedLease, CutAnywhereIsMisuse) {
  const auto text = to_text(some);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_TRUE(is_misuse(text.substr(0, length))) << length;
    EXPECT_TRUE(is_misuse(text.substr(length + 1))) << length;
  }
}

TEST(PassedLease, OfAnotherFormIsMisuse) {
  const std::string owner = ".0123456789abcdef0123456789abcdef";
  EXPECT_FALSE(is_misuse("rl1.job.1.5" + owner));
  for (const std::string text :
       {"rl2.job.1.5", "rl1.job.1.5.6", "rl1.job.1.5x", "rl1.job.1.-5", "rl1.job.1.0", "rl1.job.1.",
        "rl1.job..5", "rl1..1.5", "rl1.job.1.99999999999999999999", "rl1.j%6.1.5", "rl1.j%00.1.5",
        "rl1.job.%00.5", "rl1.job.%FF.5", "rl1.a%20b.1.5", " rl1.job.1.5"}) {
    EXPECT_TRUE(is_misuse(text + owner)) << text;
  }
  EXPECT_TRUE(is_misuse("rl1.job.1.5.0123456789ABCDEF0123456789ABCDEF"));
  EXPECT_TRUE(is_misuse("rl1.job.1.5" + owner + "\n"));
}

}  // namespace
}  // namespace rowlock::detail
