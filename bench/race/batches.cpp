// Many keys at once, through the store port and through lock_table.
#include "race/batches.hpp"

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "port.hpp"
#include "race/connections.hpp"
#include "race/keys.hpp"
#include "race/rowlock_on_postgres.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::race {

namespace {

/// Those that stand for the key of one thread.
std::vector<lock_key> keys_for(const lock_key& key, unsigned batch) {
  const auto first = static_cast<unsigned>(std::stoul(key.source_id)) * batch;
  std::vector<lock_key> keys;
  keys.reserve(batch);
  for (unsigned i = 0; i < batch; ++i) keys.push_back(key_of(first + i));
  return keys;
}

std::vector<release_request> acquired(store& rows, const std::vector<lock_key>& keys) {
  std::vector<acquire_request> asked;
  for (const auto& key : keys) asked.push_back(bench::request_for(key));
  const auto answers = rows.acquire(asked);
  std::vector<release_request> granted;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (answers[i].status != acquire_status::granted) throw std::runtime_error{"not granted"};
    granted.push_back(
        {.key = asked[i].key, .owner = asked[i].owner, .version = *answers[i].version});
  }
  return granted;
}

class batch_contender final : public polling_contender {
 public:
  batch_contender(store& rows, unsigned batch)
      : polling_contender{{}}, rows_{rows}, batch_{batch} {}

  bool take(const lock_key& key) override {
    if (keys_.empty()) keys_ = keys_for(key, batch_);
    held_ = acquired(rows_, keys_);
    return true;
  }
  void give_back() override {
    const auto answers = rows_.release(held_);
    if (!std::all_of(answers.begin(), answers.end(),
                     [](change_answer each) { return each == change_answer::done; })) {
      throw std::runtime_error{"not released"};
    }
  }

 private:
  store& rows_;
  unsigned batch_;
  std::vector<lock_key> keys_;
  std::vector<release_request> held_;
};

class renewing_contender final : public polling_contender {
 public:
  renewing_contender(store& rows, unsigned batch)
      : polling_contender{{}}, rows_{rows}, batch_{batch} {}

  bool take(const lock_key& key) override {
    if (held_.empty()) {
      for (const auto& each : acquired(rows_, keys_for(key, batch_))) {
        held_.push_back(
            {.key = each.key, .owner = each.owner, .version = each.version, .ttl = ttl});
      }
    }
    const auto answers = rows_.renew(held_);
    if (!std::all_of(answers.begin(), answers.end(),
                     [](change_answer each) { return each == change_answer::done; })) {
      throw std::runtime_error{"not renewed"};
    }
    return true;
  }
  void give_back() override {}

 private:
  store& rows_;
  unsigned batch_;
  std::vector<renew_request> held_;
};

class updating_contender final : public polling_contender {
 public:
  explicit updating_contender(const place& where)
      : polling_contender{{}}, connection_{connect(where)} {}

  bool take(const lock_key& /*key*/) override {
    pqxx::nontransaction autocommit{*connection_};
    autocommit.exec(
        "UPDATE shared_lock SET expires_at = clock_timestamp() + interval '60 seconds' "
        " WHERE lock_type = 'own'");
    return true;
  }
  void give_back() override {}

 private:
  std::unique_ptr<pqxx::connection> connection_;
};

class keeping_contender final : public polling_contender {
 public:
  keeping_contender(lock_table& locks, unsigned batch)
      : polling_contender{{}}, locks_{locks}, batch_{batch} {}

  bool take(const lock_key& key) override {
    if (sets_.empty()) acquire(keys_for(key, batch_));
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    return std::all_of(sets_.begin(), sets_.end(),
                       [](const lease_set& each) { return each.is_valid(); });
  }
  void give_back() override {}
  [[nodiscard]] std::int64_t bytes_each() const override { return bytes_each_; }

 private:
  void acquire(const std::vector<lock_key>& keys) {
    constexpr std::size_t most = 1000;  // in one set
    const auto before = mallinfo2().uordblks;
    for (auto first = keys.begin(); first != keys.end();) {
      const auto last = first + static_cast<std::ptrdiff_t>(
                                    std::min(most, static_cast<std::size_t>(keys.end() - first)));
      auto got = locks_.try_acquire_all({first, last});
      if (!got.acquired()) throw std::runtime_error{"not acquired"};
      sets_.push_back(*std::move(got));
      first = last;
    }
    const auto after = mallinfo2().uordblks;
    bytes_each_ = static_cast<std::int64_t>(after - std::min(before, after)) / batch_;
  }

  lock_table& locks_;
  unsigned batch_;
  std::vector<lease_set> sets_;
  std::int64_t bytes_each_ = 0;
};

template <class Contender>
class port_of_batches final : public entrance {
 public:
  explicit port_of_batches(const place& where) : rows_{store_in(where)}, batch_{where.batch} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<Contender>(*rows_, batch_);
  }

 private:
  std::unique_ptr<store> rows_;
  unsigned batch_;
};

class table_of_batches final : public entrance {
 public:
  explicit table_of_batches(const place& where)
      : rows_{store_in(where)},
        locks_{*rows_, {.ttl = std::chrono::seconds{6}}},
        batch_{where.batch} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<keeping_contender>(locks_, batch_);
  }

 private:
  std::unique_ptr<store> rows_;
  lock_table locks_;
  unsigned batch_;
};

class updates final : public entrance {
 public:
  explicit updates(place where) : where_{std::move(where)} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<updating_contender>(where_);
  }

 private:
  place where_;
};

template <class Entrance>
protocol on_our_table(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = build_in,
          .open = [](const place& where) { return std::make_unique<Entrance>(where); }};
}

}  // namespace

protocol batch_on_postgres(std::string name) {
  return on_our_table<port_of_batches<batch_contender>>(std::move(name));
}
protocol renewal_on_postgres(std::string name) {
  return on_our_table<port_of_batches<renewing_contender>>(std::move(name));
}
protocol bare_renewal(std::string name) { return on_our_table<updates>(std::move(name)); }
protocol kept_on_postgres(std::string name) {
  return on_our_table<table_of_batches>(std::move(name));
}

}  // namespace rowlock::race
