// One measurement, from the first table to the last answer.
#include "race/measurement.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "race/connections.hpp"
#include "race/processes.hpp"
#include "race/scratch.hpp"
#include "race/shared_state.hpp"

namespace rowlock::race {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Keeps all versions of all rows alive that are written from now on.
class open_snapshot {
 public:
  explicit open_snapshot(const place& where) : connection_{connect(where)} {
    work_.emplace(*connection_);
    work_->exec("SELECT count(*) FROM pg_class");
  }

 private:
  std::unique_ptr<pqxx::connection> connection_;
  std::optional<pqxx::transaction<pqxx::isolation_level::repeatable_read>> work_;
};

/// Deletes the rows of used keys each second, as a purge of this library does once they are an hour
/// old.
class row_purge {
 public:
  explicit row_purge(const place& where) : connection_{connect(where)} {}

 private:
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any pause;
    while (!pause.wait_for(lock, stop, std::chrono::seconds{1},
                           [&] { return stop.stop_requested(); })) {
      pqxx::nontransaction autocommit{*connection_};
      autocommit.exec(
          "DELETE FROM shared_lock WHERE ctid = ANY (ARRAY(SELECT ctid FROM shared_lock "
          "WHERE lock_type = 'fresh' AND owner IS NULL FOR UPDATE SKIP LOCKED))");
    }
  }

  std::unique_ptr<pqxx::connection> connection_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

server_reading operator-(const server_reading& after, const server_reading& before) {
  return {.statements = after.statements - before.statements,
          .wal_bytes = after.wal_bytes - before.wal_bytes,
          .transactions = after.transactions - before.transactions,
          .cpu_seconds = after.cpu_seconds - before.cpu_seconds};
}

/// Returns earlier when a process has failed.
void sleep_until(clock::time_point end, const shared_state& state) {
  while (state.now != stage::over && clock::now() < end) {
    std::this_thread::sleep_until(std::min(end, clock::now() + 1s));
  }
}

std::vector<minute> minutes_of(const plan& does, clock::time_point begun, shared_state& state,
                               server_meter& meter) {
  std::vector<minute> all;
  const auto checkpoints_before = meter.tables().checkpoints;
  for (auto end = begun + 1min; end <= begun + does.length && state.now != stage::over;
       end += 1min) {
    sleep_until(end, state);
    all.push_back({.each = state.of_minute.take_shared(), .tables = meter.tables()});
    all.back().tables.checkpoints -= checkpoints_before;
  }
  return all;
}

}  // namespace

measured measure(const plan& does, const protocol& by) {
  if (does.by_minute && by.runs_on != engine::postgres) {
    throw std::runtime_error{"minutes are measured on PostgreSQL only"};
  }
  const mapped_state mapped;
  shared_state& state = *mapped;
  const scratch ours{by.runs_on, does};
  const auto& where = ours.where();
  processes racing{does, by, where, state};  // forked before this process has any thread
  by.build(where);
  std::optional<server_meter> meter;
  if (by.runs_on == engine::postgres) meter.emplace(where);
  std::optional<open_snapshot> snapshot;
  if (does.beside_a_snapshot) snapshot.emplace(where);

  std::optional<row_purge> purging;
  const bool is_ours = by.runs_on == engine::postgres && by.name.starts_with("rowlock");
  if (does.keys == which_key::fresh && is_ours) purging.emplace(where);

  state.now = stage::entering;
  racing.await_ready();
  auto expected = stage::entering;  // not when a process has failed meanwhile, here and below
  state.now.compare_exchange_strong(expected, stage::warming);
  sleep_until(clock::now() + does.warm_up, state);
  if (by.runs_on == engine::postgres) {
    vacuum(where);
    sleep_until(clock::now() + does.warm_up, state);
  }

  measured result;
  const auto before = meter ? meter->read() : server_reading{};
  const auto begun = clock::now();
  expected = stage::warming;
  state.now.compare_exchange_strong(expected, stage::measuring);
  if (does.by_minute) result.minutes = minutes_of(does, begun, state, *meter);
  sleep_until(begun + does.length, state);
  const auto during = meter ? meter->read() - before : server_reading{};
  result.length = clock::now() - begun;
  state.now = stage::over;
  snapshot.reset();
  purging.reset();
  result.counted = racing.join();
  if (meter) result.server = {.during = during, .tables = meter->tables()};
  return result;
}

}  // namespace rowlock::race
