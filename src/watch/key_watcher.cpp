// The thread that reads the watched keys of a lock_table.
#include "watch/key_watcher.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/threads.hpp"

namespace rowlock::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto longest_between_reads = 1s;
constexpr auto shortest_between_reads = 50ms;

bool is_same(const std::optional<ask_mark>& one, const std::optional<ask_mark>& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  return one->at == other->at && one->by == other->by && one->reason == other->reason;
}

/// A renewal makes no new state.
bool is_same(const std::optional<row_state>& one, const std::optional<row_state>& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  return one->version == other->version && one->owned == other->owned &&
         one->is_live() == other->is_live() && one->note == other->note &&
         is_same(one->asked, other->asked);
}

}  // namespace

bool watched_entry::is_to_be_told(watched_key next) {
  latest_ = std::move(next);
  return !std::exchange(is_told_soon_, true);
}

bool watched_entry::saw(const std::optional<row_state>& row) {
  const checked_lock lock{mutex_};
  if (latest_ && latest_->fault.empty() && is_same(latest_->row, row)) return false;
  return is_to_be_told({.key = key, .row = row});
}

bool watched_entry::failed(const std::string& why) {
  const checked_lock lock{mutex_};
  if (latest_ && !latest_->fault.empty()) return false;
  return is_to_be_told({.key = key, .row = latest_ ? latest_->row : std::nullopt, .fault = why});
}

void watched_entry::tell_latest() {
  watched_key told;
  {
    const checked_lock lock{mutex_};
    is_told_soon_ = false;
    told = *latest_;
  }
  callback_.call(told);
}

key_watcher::key_watcher(store& rows, std::shared_ptr<time_source> time)
    : rows_{rows}, time_{std::move(time)} {}

std::shared_ptr<watched_entry> key_watcher::add(lock_key key, watch_callback callback) {
  auto added = std::make_shared<watched_entry>(std::move(key), std::move(callback));
  const checked_lock lock{mutex_};
  if (!thread_.joinable() && !is_closed_) {
    start_thread("watch keys with", [this] {
      mutex_.assume_locked();
      if (!calls_) calls_.emplace();
      thread_ = std::thread{[this] { run(); }};
    });
  }
  watched_.insert(added);
  may_be_new_ = true;
  wake_.notify_one();
  return added;
}

void key_watcher::remove(const std::shared_ptr<watched_entry>& ended) noexcept {
  {
    const checked_lock lock{mutex_};
    watched_.erase(ended);
  }
  ended->close();
}

bool key_watcher::may_have_changed(const lock_key* key) {
  const checked_lock lock{mutex_};
  const bool is_watched = std::ranges::any_of(
      watched_, [key](const auto& each) { return key == nullptr || each->key == *key; });
  if (is_watched) {
    may_be_new_ = true;
    wake_.notify_one();
  }
  return is_watched;
}

void key_watcher::close() noexcept {
  std::thread ended;
  {
    const checked_lock lock{mutex_};
    is_closed_ = true;
    wake_.notify_one();
    ended = std::move(thread_);
  }
  if (ended.joinable()) ended.join();
  calls_.reset();
}

void key_watcher::run() {
  for (auto watched = await_read(); !watched.empty(); watched = await_read()) read(watched);
}

key_watcher::entries key_watcher::await_read() {
  checked_lock lock{mutex_};
  while (!is_closed_) {
    const auto next = watched_.empty() ? boot_clock::time_point::max()
                                       : last_read_ + (may_be_new_ ? shortest_between_reads
                                                                   : longest_between_reads);
    if (time_->now() >= next) {
      last_read_ = time_->now();
      may_be_new_ = false;
      return {watched_.begin(), watched_.end()};
    }
    if (watched_.empty()) {
      wake_.wait(lock.native());
    } else {
      time_->wait_until(lock.native(), wake_, next);
    }
  }
  return {};
}

void key_watcher::read(const entries& watched) {
  std::vector<lock_key> keys;
  keys.reserve(watched.size());
  for (const auto& each : watched) keys.push_back(each->key);
  try {
    const auto seen = rows_.read(keys, read_mode::watched);
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i]->saw(seen[i])) tell(watched[i]);
    }
  } catch (const std::exception& fault) {
    for (const auto& each : watched) {
      if (each->failed(fault.what())) tell(each);
    }
  }
}

void key_watcher::tell(const std::shared_ptr<watched_entry>& entry) {
  calls_->post([entry] { entry->tell_latest(); });
}

}  // namespace rowlock::detail
