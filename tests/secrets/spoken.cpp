// All that a library, its command and its observer say, to be searched for secrets.
#include "secrets/spoken.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <regex>
#include <sstream>
#include <utility>

#include "rowlock/lock_table.hpp"
#include "rowlock/port/requests.hpp"
#include "support/caught_error.hpp"
#include "support/recording_observer.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

/// Every text in an event.
struct said_by_an_event {
  std::ostringstream& out;

  void operator()(const acquired_event& caught) { out << caught.key << ' ' << caught.token; }
  void operator()(const refused_event& caught) { out << caught.refusal; }
  void operator()(const waited_event& caught) { out << caught.key; }
  void operator()(const expired_takeover_event& caught) {
    out << caught.key << ' ' << caught.holder;
  }
  void operator()(const renewed_event& caught) { out << caught.key << ' ' << caught.token; }
  void operator()(const lost_event& caught) { out << caught.key << ' ' << caught.reason; }
  void operator()(const released_event& caught) { out << caught.key << ' ' << caught.token; }
  void operator()(const fault_event& caught) {
    out << caught.key << ' ' << caught.code.message() << ' ' << caught.text;
  }
  void operator()(const weak_setting_event& caught) { out << caught.text; }
};

std::string without(std::string text, const std::string& innocent) {
  if (innocent.empty()) return text;
  for (auto at = text.find(innocent); at != std::string::npos; at = text.find(innocent)) {
    text.erase(at, innocent.size());
  }
  return text;
}

}  // namespace

bool spoken::record_thrown_by(const std::function<void()>& call) {
  try {
    call();
    return false;
  } catch (const std::exception& thrown) {
    collect_messages(thrown, texts_);
    return true;
  }
}

void spoken::record_error_of(const std::function<void()>& call) {
  EXPECT_TRUE(record_thrown_by(call));
}

void spoken::record(store& rows) {
  const lock_key key{.type = "invoice", .source_id = "42"};
  const lock_key other{.type = "invoice", .source_id = "43"};
  const auto owner = make_owner_id();
  const auto request = [&](const lock_key& wanted) {
    return acquire_request{.key = wanted, .owner = owner, .holder = "host:1", .ttl = 1h};
  };
  const auto events = std::make_shared<recording_observer>();
  lock_table locks{rows, {.observer = events}};
  const std::vector<std::function<void()>> calls{
      [&] { rows.acquire(std::array{request(key)}); },
      [&] {
        rows.acquire(std::array{request(key), request(other)});
      },
      [&] {
        rows.renew(std::array{renew_request{key, owner, {1}, 1h}});
      },
      [&] {
        rows.release(std::array{release_request{key, owner, {1}}});
      },
      [&] { (void)rows.read(std::array{key}); },
      [&] { (void)rows.read(std::array{other}, read_mode::ready_to_commit); },
      [&] { (void)rows.read(std::array{key}, read_mode::watched); },
      [&] { (void)rows.list(); },
      [&] { (void)rows.weak_settings(); },
      [&] { (void)locks.try_acquire(other); },
      [&] { (void)locks.with_lock(other, [] {}); },
      [&] { (void)locks.read(other); },
  };
  std::size_t failed = 0;
  for (const auto& call : calls) failed += record_thrown_by(call) ? 1U : 0U;
  EXPECT_GT(failed, 0U);
  for (const auto& event : events->events()) {
    std::ostringstream out;
    std::visit(said_by_an_event{out}, event);
    record(out.str());
  }
}

void spoken::expect_no_secret(const std::string& connection_string) {
  EXPECT_FALSE(texts_.empty());
  static const std::regex owner_id{"[0-9a-f]{32}"};
  for (const auto& said : std::exchange(texts_, {})) {
    const auto text = without(said, innocent_);
    EXPECT_EQ(text.find(password), std::string::npos) << text;
    EXPECT_EQ(text.find(connection_string), std::string::npos) << text;
    EXPECT_FALSE(std::regex_search(text, owner_id)) << text;
  }
}

}  // namespace rowlock::tests
