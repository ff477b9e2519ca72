// The lock type of a key as the value of a label.
#include "prometheus/type_label.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rowlock::tests {
namespace {

using detail::type_label;

TEST(TypeLabel, IsTheTypeOfAKey) {
  EXPECT_EQ(type_label("job"), "job");
  EXPECT_EQ(type_label("Az09_.:-"), "Az09_.:-");
}

TEST(TypeLabel, HasNoScope) { EXPECT_EQ(type_label("eu-1/job"), "job"); }

TEST(TypeLabel, HasNoNumber) {
  EXPECT_EQ(type_label("printer#17"), "printer");
  EXPECT_EQ(type_label("eu-1/printer#0"), "printer");
}

TEST(TypeLabel, OfATableHasPlainBytesOnly) {
  EXPECT_EQ(type_label("public.\"per son\""), "public._per_son_");
  EXPECT_EQ(type_label("a\nb\\c\xff"), "a_b_c_");
}

TEST(TypeLabel, IsNotEmpty) {
  EXPECT_EQ(type_label(""), "_");
  EXPECT_EQ(type_label("eu-1/"), "_");
}

TEST(TypeLabel, IsNotLongerThan128Bytes) {
  EXPECT_EQ(type_label(std::string(128, 'a')), std::string(128, 'a'));
  EXPECT_EQ(type_label(std::string(129, 'a')), std::string(128, 'a'));
}

}  // namespace
}  // namespace rowlock::tests
