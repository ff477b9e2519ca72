// A bounded pool of sessions, shared by all threads of a store.
#include "store/session_pool.hpp"

#include <algorithm>
#include <string>

#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

constexpr unsigned largest_pool = 10'000;  // far more than a server accepts

}  // namespace

session_pool::session_pool(std::unique_ptr<session_source> source, unsigned size,
                           std::chrono::milliseconds timeout)
    : source_{std::move(source)}, size_{size}, timeout_{timeout} {
  if (size_ == 0 || size_ > largest_pool) {
    throw error{errc::misuse, "a pool of " + std::to_string(size_) +
                                  " connections: set pool_size to between 1 and " +
                                  std::to_string(largest_pool)};
  }
  keeping_.limit = size_;
  others_.limit = size_ == 1 ? 1 : size_ - 1;
  idle_.reserve(size_);  // so that returning a session cannot fail
}

session_pool::loan session_pool::take(session_use used_for) {
  auto taken = take_idle_or_a_place(used_for);
  try {
    if (taken.open != nullptr && !taken.open->is_alive()) taken.open.reset();
    if (taken.open == nullptr) taken = {.open = source_->open(), .number = ++opened_};
  } catch (...) {
    give_back(used_for, {});
    throw;
  }
  return {*this, used_for, std::move(taken)};
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
  const std::scoped_lock lock{mutex_};
  return keeping_.waiting + others_.waiting;
}

session_pool::pooled session_pool::take_idle_or_a_place(session_use used_for) {
  auto& mine = queue_of(used_for);
  std::unique_lock lock{mutex_};
  ++mine.waiting;
  const bool has_place = mine.freed.wait_for(lock, timeout_, [&] { return may_take(mine); });
  --mine.waiting;
  if (!has_place) {
    throw error{errc::unavailable,
                "all " + std::to_string(size_) + " connections are busy" +
                    (mine.limit == size_ ? "" : " or kept for renewals and releases") +
                    "; raise pool_size"};
  }
  ++mine.lent;
  wake_next();  // more than one place may be free by now
  if (idle_.empty()) return {};
  auto oldest = std::move(idle_.back());
  idle_.pop_back();
  return oldest;
}

void session_pool::give_back(session_use used_for, pooled lent) noexcept {
  if (lent.open != nullptr && !lent.open->is_usable()) lent.open.reset();
  const std::scoped_lock lock{mutex_};
  --queue_of(used_for).lent;
  if (lent.open != nullptr) {
    const auto older = std::find_if(idle_.begin(), idle_.end(),
                                    [&](const auto& each) { return each.number < lent.number; });
    idle_.insert(older, std::move(lent));
  }
  wake_next();
}

void session_pool::check_table_once(session& any) {
  if (table_is_checked_) return;
  any.check_table();
  table_is_checked_ = true;
}

bool session_pool::may_take(const queue& taker) const {
  return keeping_.lent + others_.lent < size_ && taker.lent < taker.limit;
}

void session_pool::wake_next() noexcept {
  for (auto* each : {&keeping_, &others_}) {
    if (each->waiting == 0 || !may_take(*each)) continue;
    each->freed.notify_one();
    return;
  }
}

}  // namespace rowlock::detail
