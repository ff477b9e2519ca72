// Widths of texts, and texts that are shortened.
#include <gtest/gtest.h>

#include <string>

#include "cli/printable.hpp"

namespace rowlock::cli {

namespace {

TEST(CellsTest, AreNoneForCombiningCharactersAndTwoForWideOnes) {
  EXPECT_EQ(cell_count(""), 0U);
  EXPECT_EQ(cell_count("abc"), 3U);
  EXPECT_EQ(cell_count("\u00e9\u00df"), 2U);
  EXPECT_EQ(cell_count("e\u0301"), 1U);
  EXPECT_EQ(cell_count("\u65e5\u672c"), 4U);
  EXPECT_EQ(cell_count("\U0001f512"), 2U);
}

TEST(CellsTest, ATextThatFitsStaysAsItIs) {
  EXPECT_EQ(without_middle("abcdef", 6), "abcdef");
  EXPECT_EQ(without_end("abcdef", 6), "abcdef");
}

TEST(CellsTest, ATextThatIsTooLongLosesItsMiddleOrItsEnd) {
  EXPECT_EQ(without_middle("abcdefgh", 5), "ab\u2026gh");
  EXPECT_EQ(without_middle("abcdefgh", 4), "ab\u2026h");
  EXPECT_EQ(without_middle("abcdefgh", 1), "\u2026");
  EXPECT_EQ(without_middle("abcdefgh", 0), "");
  EXPECT_EQ(without_end("abcdefgh", 4), "abc\u2026");
  EXPECT_EQ(without_end("abcdefgh", 0), "");
}

TEST(CellsTest, ACharacterIsShownWholeOrNotAtAll) {
  EXPECT_EQ(without_middle("\u65e5\u672c\u8a9e\u6587", 6), "\u65e5\u2026\u6587");
  EXPECT_EQ(without_end("e\u0301e\u0301e\u0301", 2), "e\u0301\u2026");
  for (std::size_t cells = 0; cells < 12; ++cells) {
    EXPECT_LE(cell_count(without_middle("\u65e5e\u0301\u672cab\U0001f512c", cells)), cells);
    EXPECT_LE(cell_count(without_end("\u65e5e\u0301\u672cab\U0001f512c", cells)), cells);
  }
}

}  // namespace

}  // namespace rowlock::cli
