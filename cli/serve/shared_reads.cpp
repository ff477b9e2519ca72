// Reads of the database whose answers all requests share.
#include "cli/serve/shared_reads.hpp"

#include <utility>

#include "base/threads.hpp"
#include "cli/fault_text.hpp"
#include "cli/say.hpp"

namespace rowlock::cli {

shared_reads::shared_reads(std::shared_ptr<time_source> time, std::function<void()> on_end)
    : time_{std::move(time)}, on_end_{std::move(on_end)} {
  detail::start_thread("read the database", [this] { thread_ = std::thread{[this] { run(); }}; });
}

shared_reads::~shared_reads() {
  {
    const detail::checked_lock lock{mutex_};
    is_over_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

shared_reads::outcome shared_reads::get(const std::string& name,
                                        const std::function<std::string()>& read) {
  const detail::checked_lock lock{mutex_};
  if (!entries_.contains(name) && !make_room()) {
    return {.fault = "too many different reads wait for the database: ask again in a second"};
  }
  entry& known = entries_[name];
  const auto now = time_->now();
  if (!known.is_queued) {
    if (known.has_ended && now - known.changed < lasts) return known.last;
    known.is_queued = true;
    known.changed = now;
    known.read = read;
    queue_.push_back(name);
    changed_.notify_one();
  }
  if (now - known.changed < patience) return {};
  return {.fault = "the database has not answered for " + std::to_string(patience.count()) +
                   " s: see whether it runs, and what it waits for"};
}

shared_reads::counts shared_reads::counted() const {
  const detail::checked_lock lock{mutex_};
  return counts_;
}

bool shared_reads::make_room() {
  if (entries_.size() < most_names) return true;
  auto oldest = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->second.is_queued) continue;
    if (oldest == entries_.end() || at->second.changed < oldest->second.changed) oldest = at;
  }
  if (oldest == entries_.end()) return false;
  entries_.erase(oldest);
  return true;
}

void shared_reads::forget_old(boot_clock::time_point now) {
  std::erase_if(entries_, [now](const auto& named) {
    const entry& known = named.second;
    return !known.is_queued && now - known.changed >= lasts;
  });
}

shared_reads::outcome shared_reads::perform(const std::function<std::string()>& read) {
  try {
    return {.answer = std::make_shared<const std::string>(read())};
  } catch (const std::exception& fault) {
    return {.fault = shown_fault(fault)};
  }
}

void shared_reads::run() {
  detail::checked_lock lock{mutex_};
  for (;;) {
    while (!is_over_ && queue_.empty()) changed_.wait(lock.native());
    if (is_over_) return;
    const std::string name = std::move(queue_.front());
    queue_.pop_front();
    const auto read = std::move(entries_[name].read);
    lock.unlock();
    auto ended = perform(read);
    lock.lock();
    ++counts_.reads;
    const bool is_faulty = !ended.answer;
    if (is_faulty) ++counts_.faults;
    // One line when it goes away and one when it is back, not one a second.
    if (is_faulty != is_faulty_) {
      say(is_faulty ? "the database could not be read: " + ended.fault + "; trying again"
                    : "the database answers again");
    }
    is_faulty_ = is_faulty;
    entry& known = entries_[name];
    known.last = std::move(ended);
    known.has_ended = true;
    known.is_queued = false;
    known.changed = time_->now();
    forget_old(known.changed);
    lock.unlock();
    on_end_();
    lock.lock();
  }
}

}  // namespace rowlock::cli
