// Every store answers any sequence of calls as the memory_store does.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/stores.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::tests {
namespace {

enum class verb { acquire, acquire_at_version, renew, release, release_failed, run_out, prepare };

/// One call, by one of a few owners.
struct step {
  verb call;
  std::size_t owner;
  /// Use the version before the last one, as a stale holder or reader would.
  bool is_stale;
};

std::ostream& operator<<(std::ostream& out, const step& shown) {
  constexpr std::array names{
      "acquire", "acquire at version", "renew", "release", "release failed", "run out", "prepare"};
  return out << names[static_cast<std::size_t>(shown.call)] << " by " << shown.owner
             << (shown.is_stale ? " stale" : "");
}

rc::Gen<step> any_step() {
  return rc::gen::construct<step>(
      rc::gen::element(verb::acquire, verb::acquire, verb::acquire_at_version, verb::renew,
                       verb::release, verb::release_failed, verb::run_out, verb::prepare),
      rc::gen::inRange<std::size_t>(0, 3), rc::gen::arbitrary<bool>());
}

/// A store under the steps of one case, and what it let us see.
class subject {
 public:
  explicit subject(store_bench& bench) : bench_{bench}, rows_{bench.open()} {}

  void begin(const std::string& case_name) {
    key_ = {"job", case_name};
    seen_.clear();
  }

  /// Does the step; answers in words everything but the numbers of versions.
  std::string take(const step& taken, const std::vector<owner_id>& owners) {
    const auto before = rows_->read(std::array{key_}).front();
    const std::string answer = call(taken, owners[taken.owner]);
    const auto after = rows_->read(std::array{key_}).front();
    if (after) remember(after->version);
    return answer + "; " + describe(before, after);
  }

 private:
  [[nodiscard]] version seen(bool is_stale) const {
    if (seen_.empty()) return {};
    return is_stale && seen_.size() > 1 ? seen_[seen_.size() - 2] : seen_.back();
  }

  void remember(version now) {
    if (!seen_.empty()) {
      if (seen_.back() == now) return;
      RC_ASSERT(seen_.back() < now);
    }
    seen_.push_back(now);
  }

  std::string call(const step& taken, const owner_id& owner) {
    using namespace std::chrono_literals;
    const version known = seen(taken.is_stale);
    const bool is_at_version = taken.call == verb::acquire_at_version;
    switch (taken.call) {
      case verb::acquire:
      case verb::acquire_at_version: {
        acquire_request request{.key = key_, .owner = owner, .holder = "host:1", .ttl = 1h};
        if (is_at_version) request.expected = known;
        const auto answer = rows_->acquire(std::array{request}).front();
        return "acquire " + std::to_string(static_cast<int>(answer.status)) + answer.holder +
               (answer.remaining ? " remaining" : "");
      }
      case verb::renew: {
        const renew_request request{.key = key_, .owner = owner, .version = known, .ttl = 1h};
        return "renew " + std::to_string(static_cast<int>(rows_->renew(std::array{request})[0]));
      }
      case verb::release:
      case verb::release_failed: {
        const release_request request{.key = key_,
                                      .owner = owner,
                                      .version = known,
                                      .failed = taken.call == verb::release_failed};
        return "release " +
               std::to_string(static_cast<int>(rows_->release(std::array{request})[0]));
      }
      case verb::run_out: {
        const auto state = rows_->read(std::array{key_}).front();
        if (state && state->is_live()) bench_.run_out(key_);
        return "run out";
      }
      case verb::prepare:
        return rows_->read(std::array{key_}, read_mode::ready_to_commit).front() ? "prepared"
                                                                                 : "not prepared";
    }
    return "unknown";
  }

  static std::string describe(const std::optional<row_state>& before,
                              const std::optional<row_state>& after) {
    if (!after) return "missing";
    std::string words = after->owned ? "owned by " + after->holder : "unowned";
    if (after->owned) words += after->is_live() ? ", live" : ", run out";
    if (after->acquired_at.empty() == after->owned) words += ", acquired_at is wrong";
    words += ", failures " + std::to_string(after->failure_count);
    words += ", expiries " + std::to_string(after->expiry_count);
    words += before && before->version == after->version ? ", same version" : ", new version";
    return words;
  }

  store_bench& bench_;
  std::shared_ptr<store> rows_;
  lock_key key_;
  std::vector<version> seen_;
};

class Differential : public testing::TestWithParam<bench_kind> {};

TEST_P(Differential, AnySequenceOfCallsIsAnsweredAsByTheMemoryStore) {
  const auto reference_bench = make_memory_bench();
  const auto tested_bench = GetParam().make();
  subject reference{*reference_bench};
  subject tested{*tested_bench};
  const std::vector<owner_id> owners{make_owner_id(), make_owner_id(), make_owner_id()};
  int cases = 0;
  const bool holds = rc::check([&] {
    const std::string name = std::to_string(++cases);
    reference.begin(name);
    tested.begin(name);
    std::string history;
    for (const auto& taken : *rc::gen::container<std::vector<step>>(any_step())) {
      const std::string expected = reference.take(taken, owners);
      history += rc::toString(taken) + ": " + expected + '\n';
      const std::string actual = tested.take(taken, owners);
      if (actual != expected) RC_FAIL(history + "but it was: " + actual);
    }
  });
  EXPECT_TRUE(holds);
}

INSTANTIATE_TEST_SUITE_P(Stores, Differential, testing::ValuesIn(every_store()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace rowlock::tests
