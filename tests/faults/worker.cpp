// One thread of a worker: takes keys in every way, works under them, and reports.
#include "faults/worker.hpp"

#include <exception>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

retry_policy short_wait() {
  auto wait = wait_for(100ms);
  wait.first_pause = 2ms;
  wait.longest_pause = 20ms;
  return wait;
}

bool is_in_doubt(const std::exception& thrown) {
  const auto* const caught = dynamic_cast<const error*>(&thrown);
  return caught != nullptr && caught->kind() == errc::outcome_unknown;
}

/// Publishes a phase for as long as it lives.
class in_phase {
 public:
  in_phase(std::atomic<phase>& place, phase here) : place_{place}, before_{place.exchange(here)} {}
  in_phase(const in_phase&) = delete;
  in_phase& operator=(const in_phase&) = delete;
  ~in_phase() { place_ = before_; }

 private:
  std::atomic<phase>& place_;
  phase before_;
};

}  // namespace

worker::worker(database_url url, score_sheet& sheet, place where, fencing fences, unsigned seed)
    : url_{std::move(url)}, sheet_{sheet}, where_{where}, fences_{fences}, random_{seed} {
  now() = phase::idle;  // a worker that was killed here may have left another
}

void worker::work(lock_table& locks) {
  take_turns([&](int key) {
    if (draw(3) == 0 && !connection().has_several_writers()) {
      work_under_row_lock(key);
    } else {
      work_under_lease(locks, key);
    }
  });
}

void worker::work_late(lock_table& locks) {
  take_turns([&](int key) { be_late(locks, key); });
}

template <class Turn>
void worker::take_turns(const Turn& turn) {
  while (!sheet_.is_stopped()) {
    try {
      turn(draw(keys));
    } catch (const std::exception& thrown) {
      ++(is_in_doubt(thrown) ? sheet_.score().unknown_outcomes : sheet_.score().faults);
      books_.reset();
      std::this_thread::sleep_for(20ms);
    }
  }
}

void worker::work_under_lease(lock_table& locks, int key) {
  auto granted = locks.try_acquire(lock_key_of(key), {.wait = short_wait(), .ask = draw(2) == 0});
  if (!granted.acquired()) {
    ++sheet_.score().refusals;
    return;
  }
  lease held = *std::move(granted);
  ++sheet_.score().leases;
  const std::stop_callback when_asked{held.wanted(), [this] { ++sheet_.score().asked; }};
  const in_phase here{now(), phase::holding};
  if (!treat_by_hand(locks, held)) return;
  belief_in_lease belief{sheet_, key, held};

  const auto begun = begin_entry(connection().outside(), key, held.token());
  toil(belief, true);
  const auto options = any_options();
  try {
    commit(
        held,
        [&](sql_line& line) {
          std::optional<in_phase> fenced;
          if (options.fence_first) fenced.emplace(now(), phase::fenced);
          write_entry(line, begun);
          toil(belief);
        },
        options);
    belief.acknowledge();
  } catch (const lease_lost&) {
    belief.update();
    ++sheet_.score().surprised;
    return;
  } catch (const error& thrown) {
    // Whatever came of it: no other may have the key while we believe to have it.
    if (is_in_doubt(thrown)) watch(belief, 50ms);
    throw;
  }
  if (!options.release && draw(2) == 0) held.release();
}

bool worker::treat_by_hand(lock_table& locks, lease& held) {
  if (draw(8) == 0 && held.extend(2 * ttl) == extend_result::extended) ++sheet_.score().extended;
  if (draw(8) != 0) return true;
  auto taken = locks.take_over(held.pass_on());
  if (!taken.acquired()) {
    ++sheet_.score().refusals;  // it ran out meanwhile
    return false;
  }
  held = *std::move(taken);
  ++sheet_.score().passed_on;
  return true;
}

void worker::work_under_row_lock(int key) {
  std::optional<belief_in_row_lock> belief;
  const auto done = connection().with_row_lock(lock_key_of(key), short_wait(), [&](sql_line& line) {
    ++sheet_.score().row_locks;
    const in_phase here{now(), phase::fenced};
    const auto granted = version_of(line, key);
    belief.emplace(sheet_, key, granted);
    const auto begun = begin_entry(line, key, granted);
    toil(*belief);
    write_entry(line, begun);
  });
  if (done.acquired()) belief->acknowledge();
  ++(done.acquired() ? sheet_.score().commits : sheet_.score().refusals);
}

void worker::be_late(lock_table& locks, int key) {
  auto granted = locks.try_acquire(lock_key_of(key), {.wait = short_wait()});
  if (!granted.acquired()) {
    ++sheet_.score().refusals;
    return;
  }
  lease held = *std::move(granted);
  ++sheet_.score().leases;
  const in_phase here{now(), phase::holding};
  belief_in_lease belief{sheet_, key, held};
  const auto begun = begin_entry(connection().outside(), key, held.token());
  toil(belief);

  // Some have written already when they get late, and only the fence comes after.
  const bool is_late_inside = connection().has_transactions_side_by_side() && draw(2) == 0;
  const auto awaited = draw(2) == 0 ? takeover::granted : takeover::committed;
  bool is_late = !is_late_inside && await_takeover(connection().outside(), begun, awaited, belief);
  auto options = any_options();
  if (is_late_inside) options.fence_first = false;
  if (is_late) ++sheet_.score().late_tries;
  try {
    commit(
        held,
        [&](sql_line& line) {
          write_entry(line, begun);
          if (!is_late_inside || is_late) return;
          // The next holder cannot commit while we have the counter.
          is_late =
              await_takeover(line, begun, begun.counted ? takeover::granted : awaited, belief);
          if (is_late) ++sheet_.score().late_tries;
        },
        options);
    belief.acknowledge();
    if (is_late) ++sheet_.score().late_commits;
  } catch (const lease_lost&) {
    ++(is_late ? sheet_.score().late_refusals : sheet_.score().surprised);
  }
}

bool worker::await_takeover(sql_line& line, const entry& begun, takeover awaited,
                            belief_in_lease& belief) {
  const auto end = boot_clock::now() + 1s;
  while (boot_clock::now() < end && !sheet_.is_stopped()) {
    belief.update();
    if (version_of(line, begun.key) != begun.version) {
      belief.update();
      if (awaited == takeover::granted || has_successor(line, begun)) return true;
    }
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

void worker::commit(const lease& held, const books::task& work, const fenced_run_options& options) {
  if (fences_ == fencing::on) {
    connection().run_fenced(held, work, options);
  } else {
    connection().run_unfenced(work);
  }
  ++sheet_.score().commits;
}

fenced_run_options worker::any_options() {
  fenced_run_options options;
  if (draw(2) == 0 && !connection().has_several_writers()) options.fence.kind = fence_kind::share;
  options.fence_first = draw(2) == 0;
  options.release = draw(2) == 0;
  if (options.release) options.fence_first = false;
  return options;
}

template <class Belief>
void worker::toil(Belief& belief, bool may_be_long) {
  const bool is_long = may_be_long && draw(50) == 0;
  watch(belief, is_long ? ttl * 3 / 2 : std::chrono::milliseconds{draw(4)});
}

template <class Belief>
void worker::watch(Belief& belief, std::chrono::milliseconds how_long) {
  const auto end = boot_clock::now() + how_long;
  for (belief.update(); boot_clock::now() < end; belief.update()) std::this_thread::sleep_for(1ms);
}

int worker::draw(int below) { return std::uniform_int_distribution{0, below - 1}(random_); }

books& worker::connection() {
  if (!books_) books_ = open_books(url_);
  return *books_;
}

std::atomic<phase>& worker::now() { return sheet_.phase_of(where_.slot, where_.thread); }

}  // namespace rowlock::tests
