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

class port_contender final : public polling_contender {
 public:
  explicit port_contender(store& rows) : rows_{rows} {}

  bool take(const lock_key& key) override {
    request_ = bench::request_for(key);
    const auto answer = rows_.acquire({&request_, 1}).front();
    if (answer.status != acquire_status::granted) return false;
    token_ = *answer.version;
    return true;
  }
  void give_back() override {
    if (!bench::release(rows_, request_, token_)) throw std::runtime_error{"not released"};
  }

 private:
  store& rows_;
  acquire_request request_;
  version token_;
};

}  // namespace

contender_factory through_lock_table(std::unique_ptr<store> rows, lock_options options) {
  struct table {
    table(std::unique_ptr<store> on, lock_options with)
        : rows{std::move(on)}, locks{*rows, std::move(with)} {}
    std::unique_ptr<store> rows;
    lock_table locks;
  };
  return [shared = std::make_shared<table>(std::move(rows), std::move(options))] {
    return std::make_unique<lease_contender>(shared->locks);
  };
}

contender_factory through_the_port(std::unique_ptr<store> rows) {
  return [shared = std::shared_ptr<store>{std::move(rows)}] {
    return std::make_unique<port_contender>(*shared);
  };
}

}  // namespace rowlock::race
