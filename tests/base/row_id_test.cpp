// Ids of the application's rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "rowlock/entity.hpp"

namespace rowlock {
namespace {

using parts = std::vector<row_id::part>;

TEST(RowId, IsANumberATextOrSeveralOfThem) {
  EXPECT_EQ(row_id{7}.parts(), parts{std::int64_t{7}});
  EXPECT_EQ(row_id{std::uint8_t{7}}.parts(), parts{std::int64_t{7}});
  EXPECT_EQ(row_id{"a"}.parts(), parts{"a"});
  EXPECT_EQ((row_id{"a", 7}.parts()), (parts{"a", std::int64_t{7}}));
}

TEST(RowId, OfANumberAboveTheLargestInt64IsItsDigits) {
  const auto largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(row_id{static_cast<std::uint64_t>(largest)}.parts(), parts{largest});
  EXPECT_EQ(row_id{static_cast<std::uint64_t>(largest) + 1}.parts(), parts{"9223372036854775808"});
  EXPECT_EQ(row_id{std::numeric_limits<std::uint64_t>::max()}.parts(),
            parts{"18446744073709551615"});
}

TEST(RowId, IsNotATruthValueOrACharacter) {
  static_assert(!std::is_constructible_v<row_id, bool>);
  static_assert(!std::is_constructible_v<row_id, char>);
  static_assert(!std::is_constructible_v<row_id, wchar_t>);
  static_assert(!std::is_constructible_v<row_id, char8_t>);
  static_assert(!std::is_constructible_v<row_id, char32_t>);
}

}  // namespace
}  // namespace rowlock
