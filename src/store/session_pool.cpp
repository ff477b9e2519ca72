// A bounded pool of sessions, shared by all threads of a store.
#include "store/session_pool.hpp"

#include <algorithm>
#include <string>

#include "base/faults.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

constexpr unsigned largest_pool = 10'000;  // far more than a server accepts

}  // namespace

session_pool::session_pool(std::unique_ptr<session_source> source, unsigned size,
                           std::chrono::milliseconds timeout,
                           std::chrono::milliseconds before_reopening)
    : source_{std::move(source)},
      size_{size},
      timeout_{timeout},
      before_reopening_{before_reopening} {
  if (size_ == 0 || size_ > largest_pool) {
    throw error{errc::misuse, "a pool of " + std::to_string(size_) +
                                  " connections: set pool_size to between 1 and " +
                                  std::to_string(largest_pool)};
  }
  idle_.reserve(size_);  // so that returning a session cannot fail
}

session_pool::loan session_pool::take(session_use used_for) {
  const auto until = clock::now() + timeout_;
  for (;;) {
    auto taken = take_idle_or_a_place(used_for, until);
    if (taken.open != nullptr && (taken.is_suspect || !taken.open->is_alive())) close(taken);
    if (taken.open != nullptr || open_in(taken, used_for, until)) {
      return {*this, used_for, std::move(taken)};
    }
  }
}

bool session_pool::open_in(pooled& place, session_use used_for, clock::time_point until) {
  try {
    place.open = source_->open();
    place.number = ++opened_;
    place.is_suspect = false;
    if (!was_the_last(used_for)) return true;
    give_back(used_for, std::move(place));
    return false;
  } catch (const no_connection_left&) {
    const checked_lock lock{mutex_};
    auto& mine = queue_of(used_for);
    --mine.lent;
    full_at_ = lent() + static_cast<unsigned>(idle_.size());
    full_until_ = full_at_ == 0 ? clock::time_point::min() : clock::now() + before_reopening_;
    why_full_ = std::current_exception();
    wake_next();
    const bool has_none_to_await = idle_.empty() || is_the_last(mine, mine.lent + 1);
    if (full_at_ == 0 || (has_none_to_await && clock::now() >= until)) throw;
    return false;
  } catch (...) {
    give_back(used_for, {});
    throw;
  }
}

bool session_pool::was_the_last(session_use used_for) {
  const checked_lock lock{mutex_};
  const auto& mine = queue_of(used_for);
  const auto all = lent() + static_cast<unsigned>(idle_.size());
  if (full_at_ == 0 || all <= full_at_) return is_the_last(mine, mine.lent);
  full_at_ = all;  // the limit was raised
  return false;
}

void session_pool::close(pooled& unfit) noexcept {
  unfit.open->disconnect();
  unfit.open.reset();
}

void session_pool::run(session_use used_for, work_on_store work) {
  auto lent = take(used_for);
  check_table_once(*lent);
  work(*lent);
}

void session_pool::run_unchecked(work_on_store work) {
  auto lent = take();
  work(*lent);
}

unsigned session_pool::waiting() {
  const checked_lock lock{mutex_};
  return keeping_.waiting + others_.waiting;
}

session_pool::pooled session_pool::take_idle_or_a_place(session_use used_for,
                                                        clock::time_point until) {
  auto& mine = queue_of(used_for);
  checked_lock lock{mutex_};
  ++mine.waiting;
  while (!may_take(mine) && clock::now() < until) {
    mine.freed.wait_until(lock.native(), is_full() ? std::min(until, full_until_) : until);
  }
  --mine.waiting;
  if (!may_take(mine)) throw_all_busy();
  ++mine.lent;
  wake_next();  // more than one place may be free by now
  pooled oldest;
  if (!idle_.empty() && !is_the_last(mine, mine.lent)) {
    oldest = std::move(idle_.back());
    idle_.pop_back();
  }
  oldest.moment = ++moments_;
  return oldest;
}

void session_pool::throw_all_busy() const {
  if (is_full()) std::rethrow_exception(copied_fault(why_full_));
  throw error{errc::unavailable,
              "all " + std::to_string(size_) + " connections are busy" +
                  (size_ == 1 || lent() == size_ ? "" : " or kept for renewals and releases") +
                  "; raise pool_size"};
}

void session_pool::give_back(session_use used_for, pooled lent) noexcept {
  const bool is_lost = lent.open != nullptr && !lent.open->is_usable();
  if (is_lost) close(lent);
  const auto call_began = lent.moment;
  const checked_lock lock{mutex_};
  --queue_of(used_for).lent;
  if (lent.open != nullptr) {
    lent.moment = ++moments_;
    const auto older = std::find_if(idle_.begin(), idle_.end(),
                                    [&](const auto& each) { return each.number < lent.number; });
    idle_.insert(older, std::move(lent));
  } else {
    full_until_ = clock::time_point::min();  // one connection fewer
  }
  if (is_lost) {
    for (auto& each : idle_) each.is_suspect = each.is_suspect || each.moment < call_began;
  }
  wake_next();
}

void session_pool::check_table_once(session& any) {
  if (table_is_checked_) return;
  any.check_table();
  table_is_checked_ = true;
}

bool session_pool::may_take(const queue& taker) const noexcept {
  const auto most = capacity();
  const auto of_taker = &taker == &others_ && most > 1 ? most - 1 : most;
  return lent() < most && taker.lent < of_taker;
}

bool session_pool::is_the_last(const queue& taker, unsigned lent) const noexcept {
  return &taker == &others_ && full_at_ > 1 && lent >= full_at_;
}

void session_pool::wake_next() noexcept {
  for (auto* each : {&keeping_, &others_}) {
    if (each->waiting == 0 || !may_take(*each)) continue;
    each->freed.notify_one();
    return;
  }
}

}  // namespace rowlock::detail
