// Many keys at once, through the store port and through lock_table: instead of one key, each thread
// has `place::batch` keys of its own. None of these waits.

#include <malloc.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "port.hpp"
#include "race/connections.hpp"
#include "race/postgres.hpp"
#include "race/protocol.hpp"
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
  std::vector<acquire_request> requests;
  requests.reserve(keys.size());
  for (const auto& key : keys) requests.push_back(bench::request_for(key));
  const auto answers = rows.acquire(requests);
  std::vector<release_request> granted;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (answers[i].status != acquire_status::granted) throw std::runtime_error{"not granted"};
    granted.push_back(
        {.key = requests[i].key, .owner = requests[i].owner, .version = *answers[i].version});
  }
  return granted;
}

void expect_all_done(const std::vector<change_answer>& answers, const char* failure) {
  if (std::ranges::any_of(answers, [](auto each) { return each != change_answer::done; })) {
    throw std::runtime_error{failure};
  }
}

struct shared_store {
  explicit shared_store(const place& where) : rows{store_in(where)}, batch{where.batch} {}
  std::unique_ptr<store> rows;
  unsigned batch;
};

struct shared_table : shared_store {
  using shared_store::shared_store;
  lock_table locks{*rows, {.ttl = std::chrono::seconds{6}}};
};

/// Acquires all in one call of the port, and releases them in one.
class batch_contender final : public polling_contender {
 public:
  explicit batch_contender(shared_store& shared) : rows_{*shared.rows}, batch_{shared.batch} {}

  bool take(const lock_key& key) override {
    if (keys_.empty()) keys_ = keys_for(key, batch_);
    held_ = acquired(rows_, keys_);
    return true;
  }
  void give_back() override { expect_all_done(rows_.release(held_), "not released"); }

 private:
  store& rows_;
  unsigned batch_;
  std::vector<lock_key> keys_;
  std::vector<release_request> held_;
};

/// Holds all, and renews them in one call each time `take` is called.
class renewing_contender final : public polling_contender {
 public:
  explicit renewing_contender(shared_store& shared) : rows_{*shared.rows}, batch_{shared.batch} {}

  bool take(const lock_key& key) override {
    if (held_.empty()) {
      for (const auto& each : acquired(rows_, keys_for(key, batch_))) {
        held_.push_back(
            {.key = each.key, .owner = each.owner, .version = each.version, .ttl = ttl});
      }
    }
    expect_all_done(rows_.renew(held_), "not renewed");
    return true;
  }
  void give_back() override {}

 private:
  store& rows_;
  unsigned batch_;
  std::vector<renew_request> held_;
};

/// The limit of that: a plain UPDATE of the same rows, by whatever plan.
class updating_contender final : public polling_contender {
 public:
  explicit updating_contender(const place& where) : connection_{connect(where)} {}

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

/// Holds all as leases of a lock_table, and counts its statements; `take` checks each tenth of a
/// second whether they are valid. They are renewed every two seconds.
class keeping_contender final : public polling_contender {
 public:
  explicit keeping_contender(shared_table& shared) : locks_{shared.locks}, batch_{shared.batch} {}

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

template <class Contender, class Shared>
protocol on_lock_table(const char* name) {
  return {.name = name,
          .runs_on = engine::postgres,
          .build = [](const place& where) { build_lock_table(where); },
          .open = contenders_sharing<Contender, Shared>};
}

}  // namespace

std::vector<protocol> batch_protocols() {
  return {
      on_lock_table<batch_contender, shared_store>("rowlock_batch"),
      on_lock_table<renewing_contender, shared_store>("rowlock_renewal"),
      on_lock_table<updating_contender, place>("bare_renewal"),
      on_lock_table<keeping_contender, shared_table>("rowlock_kept"),
  };
}

}  // namespace rowlock::race
