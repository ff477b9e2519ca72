// The queues of all keys: waiters that come and leave, notifications.
#include "wait/wait_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/threads.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

namespace {

constexpr auto never = boot_clock::time_point::max();

/// Between two looks, when nobody has come for a while.
constexpr std::chrono::milliseconds between_looks{600};

}  // namespace

waiting_room::waiting_room(store& rows, std::shared_ptr<time_source> time, grant_taker taker,
                           outage& away, herald& events)
    : rows_{rows},
      time_{std::move(time)},
      taker_{std::move(taker)},
      outage_{away},
      events_{events} {}

void waiting_room::start() {
  const std::scoped_lock lock{starting_};  // and not mutex_: the store may call us at once
  if (!thread_.joinable()) {
    start_thread("wait for keys with", [this] { thread_ = std::thread{[this] { run(); }}; });
  }
  if (!has_listened_) {
    subscription_ = rows_.listen(*this);
    has_listened_ = true;
  }
}

std::shared_ptr<waiter> waiting_room::join(wanted_lease wanted, retry_policy policy,
                                           const first_try& first,
                                           std::function<void(wait_end)> done) {
  auto joining = std::make_shared<waiter>(std::move(wanted), std::move(policy), std::move(done));
  if (first.fault != nullptr) joining->failed(first.fault, true);
  start();
  const std::scoped_lock lock{mutex_};
  const auto now = time_->now();
  const auto& key = joining->wanted.request.key;
  const auto [place, is_new] = lines_.try_emplace(key);
  auto& line = place->second;
  // It does not ask by itself, and the next answer may come after its time.
  const bool has_asked = first.refused || first.fault != nullptr;
  if (!is_new && !has_asked) joining->fault = line.waiting.front()->fault;
  line.join(joining, now);
  if (is_new) {
    last_new_line_ = now;
    line.last = {.reason = refusal_reason::busy, .key = key};
    if (first.refused) line.refused(*first.refused, now, now);
    if (subscription_ != nullptr) hear_of(key);
    if (first.fault != nullptr) {
      line.ask_by(joining->try_at);
    } else {
      if (subscription_ != nullptr) line.look_by(now);  // so that the release is announced
      begin(line, !first.refused, now);
    }
  } else if (joining->is_in_doubt) {
    line.ask_by(joining->try_at);
  }
  wake_.notify_one();
  return joining;
}

void waiting_room::forget_if_empty(const lock_key& key) {
  const auto place = lines_.find(key);
  if (place != lines_.end() && place->second.waiting.empty()) lines_.erase(place);
}

bool waiting_room::take_out(waiter& taken) {
  if (!std::exchange(taken.is_waiting, false)) return false;
  auto& line = lines_.at(taken.wanted.request.key);
  const bool was_first = line.waiting.front().get() == &taken;
  std::erase_if(line.waiting, [&](const auto& each) { return each.get() == &taken; });
  if (was_first && !line.waiting.empty()) {
    line.moved_up(time_->now());
    wake_.notify_one();
  }
  forget_if_empty(taken.wanted.request.key);
  return true;
}

std::optional<waiting_room::left_line> waiting_room::leave_line(waiter& leaving) {
  if (!leaving.is_waiting) return std::nullopt;
  left_line left{.last = lines_.at(leaving.wanted.request.key).last,
                 .is_unanswered = is_asking_ || leaving.is_asked_for,
                 .is_asked_for = leaving.is_asked_for,
                 .handed_by = leaving.handed_by,
                 .fault = leaving.fault,
                 .is_in_doubt = leaving.is_in_doubt};
  take_out(leaving);
  return left;
}

std::optional<waiting_room::left_line> waiting_room::leave(waiter& leaving) {
  const std::scoped_lock lock{mutex_};
  return leave_line(leaving);
}

std::optional<waiting_room::left_line> waiting_room::leave_after_last_try(waiter& leaving) {
  const std::scoped_lock lock{mutex_};
  leaving.is_time_over = true;
  if (!leaving.is_waiting || leaving.is_asked_for) return std::nullopt;
  const bool is_away = outage_.is_on() || (leaving.fault != nullptr && outage_.is_known());
  if (is_away) return leave_line(leaving);
  auto& line = lines_.at(leaving.wanted.request.key);
  if (line.waiting.front().get() != &leaving) return leave_line(leaving);
  line.ask_by(time_->now());
  wake_.notify_one();
  return std::nullopt;
}

void waiting_room::stop() {
  const std::scoped_lock lock{mutex_};
  closed_ = true;
  wake_.notify_one();
}

void waiting_room::close() {
  stop();
  subscription_.reset();
  if (thread_.joinable()) thread_.join();
}

bool waiting_room::is_closed() {
  const std::scoped_lock lock{mutex_};
  return closed_;
}

void waiting_room::run() {
  std::unique_lock lock{mutex_};
  while (!closed_) {
    const auto now = time_->now();
    const auto heads = take_heads_to_ask(now);
    const auto look_at = next_look(now);
    if (!heads.empty() || look_at <= now) {
      is_asking_ = true;
      lock.unlock();
      heads.empty() ? look() : ask(heads);
      lock.lock();
      is_asking_ = false;
    } else {
      const auto next = std::min(look_at, next_question());
      if (next == never) {
        wake_.wait(lock);
      } else {
        time_->wait_until(lock, wake_, next);
      }
    }
  }
}

waiters waiting_room::take_heads_to_ask(boot_clock::time_point now) {
  if (outage_.is_on()) return take_one_to_ask(now);
  waiters heads;
  for (auto& [key, line] : lines_) {
    if (line.ask_at() > now) continue;
    line.forget_ask_at();
    auto& head = line.waiting.front();
    // Being handed the row: a second grant of it would be given back, and so the first one, too.
    if (head->is_asked_for) continue;
    head->is_asked_for = true;
    heads.push_back(head);
  }
  return heads;
}

waiters waiting_room::take_one_to_ask(boot_clock::time_point now) {
  const auto is_due = [&](const auto& each) {
    return each.second.next_try() <= now && !each.second.waiting.front()->is_asked_for;
  };
  const auto after_last = lines_.upper_bound(last_asked_);
  auto due = std::find_if(after_last, lines_.end(), is_due);
  if (due == lines_.end()) due = std::find_if(lines_.begin(), after_last, is_due);
  if (due == lines_.end() || !outage_.may_ask(now)) return {};
  last_asked_ = due->first;
  due->second.forget_ask_at();
  const auto& head = due->second.waiting.front();
  head->is_asked_for = true;
  return {head};
}

boot_clock::time_point waiting_room::next_question() const {
  const bool is_away = outage_.is_on();
  auto next = never;
  for (const auto& [key, line] : lines_) {
    if (!is_away) {
      next = std::min(next, line.ask_at());
    } else if (!line.waiting.front()->is_asked_for) {
      next = std::min(next, line.next_try());
    }
  }
  return is_away && next != never ? std::max(next, outage_.next_question()) : next;
}

boot_clock::time_point waiting_room::next_look(boot_clock::time_point now) const {
  if (outage_.is_on()) return never;
  auto next = never;
  for (const auto& [key, line] : lines_) next = std::min(next, line.look_at());
  if (next == never) return next;
  const auto apart = std::min<boot_clock::duration>(between_looks, (now - last_new_line_) / 2);
  return std::max(next, last_look_ + apart);
}

namespace {

/// Of so many keys it is remembered what was heard. What is forgotten costs statements, no more.
constexpr std::size_t most_heard_of = 1024;

refusal held_as_heard(const lock_key& key, const hearsay& heard, boot_clock::time_point now) {
  return {.reason = refusal_reason::held,
          .key = key,
          .remaining =
              std::chrono::duration_cast<std::chrono::microseconds>(heard.taken_until() - now)};
}

}  // namespace

bool waiting_room::has_to_wait(const lock_key& key) {
  const std::scoped_lock lock{mutex_};
  if (lines_.contains(key)) return true;
  const auto* heard = heard_of(key);
  const auto now = time_->now();
  return heard != nullptr && (heard->is_taken(now) || heard->is_turn_of_others(now));
}

hearsay* waiting_room::heard_of(const lock_key& key) {
  const auto found = heard_.find(key);
  return found == heard_.end() ? nullptr : &found->second;
}

void waiting_room::hear_of(const lock_key& key) {
  if (heard_.size() >= most_heard_of) heard_.clear();
  heard_.try_emplace(key);
}

void waiting_room::begin(waiting_line& line, bool has_not_asked, boot_clock::time_point now) {
  auto& first = *line.waiting.front();
  const auto& key = first.wanted.request.key;
  const auto* heard = heard_of(key);
  const bool is_taken = heard != nullptr && heard->is_taken(now);
  if (is_taken) line.be_quiet_until(heard->quiet_until(), heard->look_by());
  if (!has_not_asked) return;
  line.forget_ask_at();
  if (is_taken) {
    line.refused(held_as_heard(key, *heard, now), now, now);
  } else {
    first.tries = 0;  // this is going to be its first try
    ask_in_turn(line, now);
  }
}

void waiting_room::ask_in_turn(waiting_line& line, boot_clock::time_point now) {
  const auto* heard = heard_of(line.waiting.front()->wanted.request.key);
  if (heard == nullptr) return line.ask_by(now);
  const auto turn = std::max(now, heard->turn_after(line.turns_of_others));
  line.ask_by(turn);
  if (turn > now) line.be_quiet_until(turn, std::max(turn, heard->look_by()));
}

void waiting_room::released(const lock_key& key) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto now = time_->now();
  if (auto* heard = heard_of(key)) heard->released(now);
  const auto found = lines_.find(key);
  if (found == lines_.end()) return;
  ask_in_turn(found->second, now);
  wake_.notify_one();
}

void waiting_room::taken(const lock_key& key, const grant_times& lasts) noexcept {
  const std::scoped_lock lock{mutex_};
  auto* heard = heard_of(key);
  if (heard == nullptr) return;
  const auto now = time_->now();
  heard->taken(now, lasts);
  const auto found = lines_.find(key);
  if (found == lines_.end()) return;
  auto& line = found->second;
  if (heard->is_taken(now)) line.be_quiet_until(heard->quiet_until(), heard->look_by());
  if (line.waiting.front()->is_asked_for) {
    ++line.turns_of_somebody;
    return;
  }
  ++line.turns_of_others;
  // The answer to a last try is the end of a wait.
  if (!line.waiting.front()->is_time_over) line.forget_ask_at();
  line.refused(held_as_heard(key, *heard, now), now, now);
  wake_.notify_one();
}

void waiting_room::listening() noexcept {
  const std::scoped_lock lock{mutex_};
  for (auto& [key, heard] : heard_) heard.missed();
  for (auto& [key, line] : lines_) line.look_by(time_->now());
  wake_.notify_one();
}

}  // namespace rowlock::detail
