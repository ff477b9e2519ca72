// This library on any of its stores.
#include "race/rowlock_contender.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "port.hpp"

namespace rowlock::race {

namespace {

class lease_contender final : public contender {
 public:
  explicit lease_contender(lock_table& locks) : locks_{locks} {}

  bool take(const lock_key& key) override { return keep(locks_.try_acquire(key)); }
  bool take_waiting(const lock_key& key, const std::stop_token& stop) override {
    return keep(locks_.try_acquire(key, {.wait = wait_until_stopped(stop)}));
  }
  void give_back() override {
    if (held_->release() != release_result::released) throw std::runtime_error{"not released"};
    held_.reset();
  }

 private:
  bool keep(outcome<lease> got) {
    if (!got.acquired()) return false;
    held_.emplace(*std::move(got));
    return true;
  }

  lock_table& locks_;
  std::optional<lease> held_;
};

class table_entrance final : public entrance {
 public:
  table_entrance(std::unique_ptr<store> rows, lock_options options)
      : rows_{std::move(rows)}, locks_{*rows_, std::move(options)} {}
  std::unique_ptr<contender> enter() override { return std::make_unique<lease_contender>(locks_); }

 private:
  std::unique_ptr<store> rows_;
  lock_table locks_;
};

class port_contender final : public polling_contender {
 public:
  explicit port_contender(store& rows) : polling_contender{{}}, rows_{rows} {}

  bool take(const lock_key& key) override {
    asked_ = bench::request_for(key);
    const auto answer = rows_.acquire({&asked_, 1}).front();
    if (answer.status != acquire_status::granted) return false;
    token_ = *answer.version;
    return true;
  }
  void give_back() override {
    if (!bench::release(rows_, asked_, token_)) throw std::runtime_error{"not released"};
  }

 private:
  store& rows_;
  acquire_request asked_;
  version token_;
};

class port_entrance final : public entrance {
 public:
  explicit port_entrance(std::unique_ptr<store> rows) : rows_{std::move(rows)} {}
  std::unique_ptr<contender> enter() override { return std::make_unique<port_contender>(*rows_); }

 private:
  std::unique_ptr<store> rows_;
};

}  // namespace

std::unique_ptr<entrance> through_lock_table(std::unique_ptr<store> rows, lock_options options) {
  return std::make_unique<table_entrance>(std::move(rows), std::move(options));
}

std::unique_ptr<entrance> through_the_port(std::unique_ptr<store> rows) {
  return std::make_unique<port_entrance>(std::move(rows));
}

}  // namespace rowlock::race
