// The small types: keys, versions, owner ids, refusals, outcomes, errors.
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

template <class Call>
std::string misuse_of(const Call& call) {
  try {
    call();
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::misuse);
    return fault.what();
  }
  return "nothing was thrown";
}

template <class T>
std::string text_of(const T& shown) {
  std::ostringstream out;
  out << shown;
  return out.str();
}

TEST(LockKey, KeepsToItsLimitsInBytes) {
  check(lock_key{"a", "b"});
  check(lock_key{std::string(64, 'x'), std::string(255, 'y')});
  check(lock_key{"Az09_.:-", "\xF0\x9F\x94\x92 with blanks, 'quotes' and \"more\""});
  EXPECT_NE(misuse_of([] {
              check(lock_key{"", "b"});
            }).find("lock type is empty"),
            std::string::npos);
  EXPECT_NE(misuse_of([] {
              check(lock_key{"a", ""});
            }).find("source id is empty"),
            std::string::npos);
  EXPECT_NE(misuse_of([] {
              check(lock_key{std::string(65, 'x'), "b"});
            }).find("65 bytes"),
            std::string::npos);
  // 128 characters, 256 bytes.
  std::string accents;
  for (int i = 0; i < 128; ++i) accents += "\xC3\xA9";
  EXPECT_NE(misuse_of([&] { check(lock_key{"a", accents}); }).find("256 bytes"), std::string::npos);
}

TEST(LockKey, RefusesOtherCharactersInTheType) {
  for (const char* type : {"a b", "a\nb", "\xC3\xA9", "a'b", "a\"b", "a%", "a/b/c", "a b/c", "a#",
                           "a#x", "a#12345", "a#1#2", "a#1/b"}) {
    EXPECT_NE(misuse_of([&] {
                check(lock_key{type, "b"});
              }).find("use only those; before a type"),
              std::string::npos)
        << type;
  }
}

TEST(LockKey, MayHaveAScopeBeforeAndANumberBehindItsType) {
  const std::string longest(64, 'x');
  check(lock_key{longest + '/' + longest + "#9999", "b"});
  check(lock_key{"a/b", "c"});
  check(lock_key{"a#0", "b"});
  EXPECT_NE(misuse_of([] {
              check(lock_key{"/b", "c"});
            }).find("scope is empty"),
            std::string::npos);
  EXPECT_NE(misuse_of([] {
              check(lock_key{"a/", "c"});
            }).find("lock type is empty"),
            std::string::npos);
  EXPECT_NE(misuse_of([] {
              check(lock_key{"#1", "c"});
            }).find("lock type is empty"),
            std::string::npos);
  EXPECT_NE(misuse_of([&] {
              check(lock_key{'x' + longest + "/b", "c"});
            }).find("scope has 65 bytes"),
            std::string::npos);
  EXPECT_NE(misuse_of([&] {
              check(lock_key{"a/x" + longest + "#1", "c"});
            }).find("lock type has 65 bytes"),
            std::string::npos);
}

TEST(LockKey, RefusesNulAndInvalidUtf8InTheSourceId) {
  EXPECT_NE(misuse_of([] {
              check(lock_key{"a", std::string("b\0c", 3)});
            }).find("NUL"),
            std::string::npos);
  for (const char* id : {"\xFF", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                         "\xF4\x90\x80\x80", "\xF0\x9F\x94", "ok\x80"}) {
    EXPECT_NE(misuse_of([&] { check(lock_key{"a", id}); }).find("UTF-8"), std::string::npos);
  }
}

TEST(LockKey, NoMessageRepeatsTheKey) {
  EXPECT_EQ(misuse_of([] {
              check(lock_key{"secret type", "b"});
            }).find("secret"),
            std::string::npos);
}

TEST(LockKeys, AreSortedByBytesAndEachOnce) {
  const lock_keys keys{{"b", "1"}, {"a", "\xC3\xA9"}, {"a", "z"}, {"b", "1"}};
  const std::vector<lock_key> expected{{"a", "z"}, {"a", "\xC3\xA9"}, {"b", "1"}};
  EXPECT_EQ((std::vector<lock_key>{keys.in_order().begin(), keys.in_order().end()}), expected);
}

TEST(LockKeys, RefuseNoneAndTooMany) {
  EXPECT_NE(misuse_of([] { lock_keys{std::vector<lock_key>{}}; }).find("no key"),
            std::string::npos);
  std::vector<lock_key> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back({"a", std::to_string(i)});
  keys.push_back(keys.front());
  EXPECT_EQ(lock_keys{keys}.in_order().size(), 1000U) << "one is named twice";
  keys.push_back({"b", "1"});
  EXPECT_NE(misuse_of([&] { lock_keys{keys}; }).find("1001 keys"), std::string::npos);
}

TEST(OwnerId, IsDifferentEachTime) {
  const auto one = make_owner_id();
  EXPECT_EQ(one.text.size(), 32U);
  EXPECT_NE(one, make_owner_id());
}

TEST(Refusal, SaysWhoHoldsItAndForHowLong) {
  EXPECT_EQ(
      text_of(refusal{.key = {"invoice", "42"}, .holder = "web1:4711", .remaining = 12'540ms}),
      "invoice/42 is held by web1:4711, 12.5 s of its lease left");
  EXPECT_EQ(text_of(refusal{.reason = refusal_reason::busy, .key = {"invoice", "42"}}),
            "invoice/42 is in use by another transaction");
  EXPECT_EQ(text_of(refusal{.reason = refusal_reason::timed_out,
                            .key = {"invoice", "42"},
                            .holder = "web1:4711",
                            .remaining = 2s}),
            "invoice/42 was not free before the wait was over; held by web1:4711, 2.0 s of its "
            "lease left");
}

TEST(Outcome, IsAValueOrARefusal) {
  outcome<std::unique_ptr<int>> acquired{std::make_unique<int>(7)};
  EXPECT_TRUE(acquired.acquired());
  EXPECT_TRUE(acquired.kept());
  EXPECT_EQ(**acquired, 7);
  EXPECT_NE(misuse_of([&] { (void)acquired.refusal(); }).find("acquired()"), std::string::npos);

  const outcome<bool> refused{refusal{.reason = refusal_reason::stale}};
  EXPECT_FALSE(refused.acquired());
  EXPECT_FALSE(refused.kept());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
  EXPECT_NE(misuse_of([&] { (void)*refused; }).find("acquired()"), std::string::npos);
}

TEST(Outcome, OfAFalseBoolIsAcquired) {
  const outcome<bool> result{false};
  EXPECT_TRUE(result.acquired());
  EXPECT_FALSE(*result);
  static_assert(!std::is_convertible_v<outcome<bool>, bool>);
  static_assert(!std::is_constructible_v<bool, outcome<bool>>);
}

TEST(Outcome, OfALostLeaseIsNotKept) {
  EXPECT_FALSE((outcome<int>{1, false}.kept()));
  EXPECT_FALSE((outcome<void>{false}.kept()));
  EXPECT_TRUE((outcome<void>{false}.acquired()));
}

TEST(Error, IsASystemErrorOfOurCategory) {
  const error fault{errc::outcome_unknown, "the connection broke"};
  EXPECT_EQ(fault.code(), errc::outcome_unknown);
  EXPECT_STREQ(fault.code().category().name(), "rowlock");
  EXPECT_STREQ(fault.what(), "the connection broke: it may have happened");
}

}  // namespace
}  // namespace rowlock::tests
