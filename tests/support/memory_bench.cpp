// The lock table in memory, on a clock that the bench moves.
#include <stdexcept>

#include "support/memory_application.hpp"
#include "support/store_bench.hpp"

namespace rowlock::tests {

namespace {

class memory_bench final : public store_bench {
 public:
  std::shared_ptr<store> open(std::chrono::milliseconds /*turn_timeout*/) override {
    return {database_, &database_->rows};
  }

  std::unique_ptr<app_connection> connect() override { return connect_to_memory(database_); }

  void run_out(const lock_key& key) override {
    const auto found = database_->rows.read({&key, 1}).front();
    time_->advance(found.value().remaining.value());
  }

  void let_done_lapse(const lock_key& key) override {
    const auto found = database_->rows.read({&key, 1}).front();
    time_->advance(found.value().done.value().remaining);
  }

  void leave_behind_the_clock(const lock_key& /*key*/) override {
    time_->advance(std::chrono::hours{2});
  }
  void put_ahead_of_the_clock(const lock_key& /*key*/) override {
    // It is not behind since its last move: the clock stands still.
  }

  bool is_blank(const lock_key& key) override {
    return !database_->rows.read({&key, 1}).front().value().owned;
  }

 private:
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  std::shared_ptr<memory_database> database_ = std::make_shared<memory_database>(time_);
};

}  // namespace

std::unique_ptr<store_bench> make_memory_bench() { return std::make_unique<memory_bench>(); }

}  // namespace rowlock::tests
