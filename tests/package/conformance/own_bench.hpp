// A bench of another project's store, which keeps its rows in a memory_store.
#ifndef OWN_BENCH_HPP
#define OWN_BENCH_HPP

#include <memory>
#include <rowlock/clock.hpp>
#include <rowlock/testing/memory_store.hpp>
#include <rowlock/testing/store_bench.hpp>
#include <span>

/// `Store` is made of the store that it passes on to.
template <class Store>
class own_bench final : public rowlock::conformance::store_bench {
 public:
  std::shared_ptr<rowlock::store> open(std::chrono::milliseconds /*turn_timeout*/) override {
    return std::make_shared<Store>(rows_);
  }

  void run_out(const rowlock::lock_key& key) override {
    time_->advance(row(key).remaining.value());
  }
  void let_done_lapse(const rowlock::lock_key& key) override {
    time_->advance(row(key).done.value().remaining);
  }
  void leave_behind_the_clock(const rowlock::lock_key& /*key*/) override {
    time_->advance(std::chrono::hours{2});
  }
  void put_ahead_of_the_clock(const rowlock::lock_key& /*key*/) override {
    // It is not behind since its last move: the clock stands still.
  }
  bool is_blank(const rowlock::lock_key& key) override { return !row(key).owned; }

 private:
  rowlock::row_state row(const rowlock::lock_key& key) {
    return rows_.read(std::span{&key, 1}).front().value();
  }

  std::shared_ptr<rowlock::manual_time> time_ = std::make_shared<rowlock::manual_time>();
  rowlock::memory_store rows_{time_};
};

#endif
