// Results as people read them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "rowlock/lease.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::tests {
namespace {

template <class T>
std::string text_shown_of(T shown) {
  std::ostringstream out;
  out << shown;
  return out.str();
}

TEST(Results, ArePlainWords) {
  EXPECT_EQ(text_shown_of(note_result::written), "written");
  EXPECT_EQ(text_shown_of(note_result::busy), "not written: a transaction has the row");
  EXPECT_EQ(text_shown_of(note_result::lost), "not written: the lease is over");
  EXPECT_EQ(text_shown_of(release_result::released), "released");
  EXPECT_EQ(text_shown_of(release_result::lost), "lost before it was released");
  EXPECT_EQ(text_shown_of(release_result::deferred),
            "not confirmed yet: the release is tried again");
  EXPECT_EQ(text_shown_of(commit_result::committed), "committed");
  EXPECT_EQ(text_shown_of(commit_result::stale), "stale: the version has moved on");
  EXPECT_EQ(text_shown_of(force_answer::released), "released");
  EXPECT_EQ(text_shown_of(force_answer::busy), "not released: a transaction has the row");
  EXPECT_EQ(text_shown_of(force_answer::stale),
            "not released: the row is missing, free, or at another version");
}

}  // namespace
}  // namespace rowlock::tests
