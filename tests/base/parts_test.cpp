// Source ids that are made of several parts.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_key.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

using parts = std::vector<std::string>;

TEST(Parts, AreJoinedBySlashesAndSplitAgain) {
  EXPECT_EQ(source_id_of({"eu", "orders", "42"}), "eu/orders/42");
  EXPECT_EQ(parts_of("eu/orders/42"), (parts{"eu", "orders", "42"}));
}

TEST(Parts, OfOnePlainPartAreThatPart) {
  EXPECT_EQ(source_id_of({"42"}), "42");
  EXPECT_EQ(source_id_of(parts{"4 2"}), "4 2");
}

TEST(Parts, WithTheBytesThatSeparateAreEscaped) {
  EXPECT_EQ(source_id_of({"a/b", "100%", std::string_view{"a\0b", 3}}), "a%2Fb/100%25/a%00b");
  EXPECT_EQ(parts_of("a%2Fb/100%25/a%00b"), (parts{"a/b", "100%", std::string{"a\0b", 3}}));
}

TEST(Parts, ThatAreEmptyCount) {
  EXPECT_EQ(source_id_of({"", "a", "", ""}), "/a//");
  EXPECT_EQ(parts_of("/a//"), (parts{"", "a", "", ""}));
  EXPECT_EQ(parts_of(source_id_of({""})), parts{""});
}

TEST(Parts, WithoutAnyAreMisuse) {
  EXPECT_EQ(error_of([] { (void)source_id_of(parts{}); }).kind, errc::misuse);
}

TEST(Parts, OfATextThatWasNotJoinedAreMisuse) {
  for (const auto* text : {"%", "%2", "a%2f", "%20/a", "%%25", "a/%2", "100%"}) {
    EXPECT_EQ(error_of([&] { (void)parts_of(text); }).kind, errc::misuse) << text;
  }
}

/// A list with many of the bytes that could be mistaken for each other.
parts random_parts(std::mt19937_64& random) {
  static constexpr std::string_view bytes{
      "%/\0"
      "250Fab\xc3\xa9",
      11};
  parts list(1 + random() % 4);
  for (auto& part : list) {
    for (auto length = random() % 6; length > 0; --length) part += bytes[random() % bytes.size()];
  }
  return list;
}

// If each list comes back, no two lists give the same text.
TEST(Parts, OfAMillionRandomListsComeBack) {
  constexpr int lists_each = 10'000;
  const bool all_come_back = rc::check([](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (int i = 0; i < lists_each; ++i) {
      const auto list = random_parts(random);
      RC_ASSERT(parts_of(source_id_of(list)) == list);
    }
  });
  EXPECT_TRUE(all_come_back);
}

TEST(Parts, OfListsOfAnyTextsComeBack) {
  EXPECT_TRUE(rc::check([](const parts& list) {
    RC_PRE(!list.empty());
    RC_ASSERT(parts_of(source_id_of(list)) == list);
  }));
}

// The other direction: a text that can be split is the one that its parts make.
TEST(Parts, OfATextMakeThatText) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto text = source_id_of(random_parts(random));
    RC_ASSERT(source_id_of(parts_of(text)) == text);
  }));
}

}  // namespace
}  // namespace rowlock::tests
