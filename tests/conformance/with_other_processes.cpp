// Puts other requests beside those of a test, so that its calls are calls of several.
#include <memory>
#include <utility>

#include "conformance/stores.hpp"
#include "rowlock/port/passing_store.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::tests {

namespace {

lock_key key_of_others(const char* place) { return {.type = "others", .source_id = place}; }

/// Sends requests for other keys along, and returns the answers to those of the test. (A set has
/// several keys anyway, and is passed on as it is.)
class store_beside_others final : public passing_store {
 public:
  explicit store_beside_others(const std::shared_ptr<store>& rows)
      : passing_store{*rows}, rows_{rows} {}

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    if (mode.how != acquire_mode::each) return passing_store::do_acquire(requests, mode);
    const auto beside = [](const char* place) {
      return acquire_request{.key = key_of_others(place),
                             .owner = make_owner_id(),
                             .holder = "others",
                             .ttl = std::chrono::minutes{1}};
    };
    return without_others(rows_->acquire(between(beside("before"), requests, beside("after"))));
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    const auto beside = [](const char* place) {
      return renew_request{key_of_others(place), make_owner_id(), version{1},
                           std::chrono::minutes{1}};
    };
    return without_others(rows_->renew(between(beside("before"), requests, beside("after"))));
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    const auto beside = [](const char* place) {
      return release_request{key_of_others(place), make_owner_id(), version{1}};
    };
    return without_others(rows_->release(between(beside("before"), requests, beside("after"))));
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    return without_others(
        rows_->read(between(key_of_others("before"), keys, key_of_others("after")), mode));
  }
  std::vector<row_state> do_list(const list_request& request) override {
    auto listed = rows_->list(request);
    std::erase_if(listed, [](const row_state& state) { return state.key.type == "others"; });
    return listed;
  }

 private:
  template <class Request>
  static std::vector<Request> between(Request first, std::span<const Request> requests,
                                      Request last) {
    std::vector<Request> all{std::move(first)};
    all.insert(all.end(), requests.begin(), requests.end());
    all.push_back(std::move(last));
    return all;
  }

  template <class Answer>
  static std::vector<Answer> without_others(std::vector<Answer> answers) {
    answers.pop_back();
    answers.erase(answers.begin());
    return answers;
  }

  const std::shared_ptr<store> rows_;
};

class bench_beside_others final : public store_bench {
 public:
  explicit bench_beside_others(std::unique_ptr<store_bench> bench) : bench_{std::move(bench)} {}

  std::shared_ptr<store> open(std::chrono::milliseconds turn_timeout) override {
    return std::make_shared<store_beside_others>(bench_->open(turn_timeout));
  }
  std::unique_ptr<app_connection> connect() override { return bench_->connect(); }
  void run_out(const lock_key& key) override { bench_->run_out(key); }
  void let_done_lapse(const lock_key& key) override { bench_->let_done_lapse(key); }
  void leave_behind_the_clock(const lock_key& key) override { bench_->leave_behind_the_clock(key); }
  void put_ahead_of_the_clock(const lock_key& key) override { bench_->put_ahead_of_the_clock(key); }
  bool is_blank(const lock_key& key) override { return bench_->is_blank(key); }
  std::shared_ptr<void> lock_as_a_stranger(const lock_key& key) override {
    return bench_->lock_as_a_stranger(key);
  }

 private:
  std::unique_ptr<store_bench> bench_;
};

}  // namespace

std::vector<bench_kind> alone_and_beside_others(const std::vector<bench_kind>& kinds) {
  auto all = kinds;
  for (auto kind : kinds) {
    kind.name += "_beside_others";
    kind.make = [make = std::move(kind.make)] {
      return std::make_unique<bench_beside_others>(make());
    };
    all.push_back(std::move(kind));
  }
  return all;
}

}  // namespace rowlock::tests
