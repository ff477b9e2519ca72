// The port on a map: the model that other stores are compared with.
#include "rowlock/testing/memory_store.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rowlock/detail/checked_mutex.hpp"
#include "testing/memory_rows.hpp"

namespace rowlock {

namespace detail {

/// Notifications of releases within one process. Listeners are notified under the mutex, so none is
/// notified after its subscription has ended. This object must outlive the subscriptions.
///
/// Thread-safety: all members may be called from any thread.
class release_hints {
 public:
  std::unique_ptr<subscription> listen(release_listener& listener) {
    {
      const detail::checked_lock lock{mutex_};
      listeners_.insert(&listener);
    }
    return std::make_unique<entry>(*this, listener);
  }

  void announce(const std::vector<lock_key>& changed,
                void (release_listener::*how)(const lock_key&) = &release_listener::released) {
    const detail::checked_lock lock{mutex_};
    for (auto* listener : listeners_) {
      for (const auto& key : changed) (listener->*how)(key);
    }
  }

 private:
  class entry final : public subscription {
   public:
    entry(release_hints& from, release_listener& listener) : from_{from}, listener_{listener} {}
    ~entry() override {
      const detail::checked_lock lock{from_.mutex_};
      from_.listeners_.erase(&listener_);
    }

   private:
    release_hints& from_;
    release_listener& listener_;
  };

  detail::checked_mutex mutex_;
  std::set<release_listener*> listeners_ ROWLOCK_GUARDED_BY(mutex_);
};

bool is_in(row_filter wanted, const row_state& state) {
  switch (wanted) {
    case row_filter::any:
      break;
    case row_filter::held:
      return state.owned && state.is_live();
    case row_filter::run_out:
      return state.owned && !state.is_live();
    case row_filter::closed:
      return !state.owned && state.is_live();
  }
  return state.owned || state.is_live();
}

bool is_wanted(const row_state& state, const list_request& request) {
  return is_in(request.state, state) && (!request.type || state.key.type == *request.type) &&
         (!request.holder || state.holder == *request.holder);
}

/// `rows` are in the order of their keys, which decides between equal ones.
void sort_by(row_order order, std::vector<row_state>& rows) {
  switch (order) {
    case row_order::key:
      break;
    case row_order::age:
      std::stable_sort(rows.begin(), rows.end(), [](const row_state& one, const row_state& other) {
        return one.held_for > other.held_for;
      });
      break;
    case row_order::remaining:
      std::stable_sort(rows.begin(), rows.end(), [](const row_state& one, const row_state& other) {
        return one.remaining < other.remaining;
      });
      break;
  }
}

class memory_port final : public store {
 public:
  explicit memory_port(memory_rows& rows) : rows_{rows} {}

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    switch (mode.how) {
      case acquire_mode::all_or_none:
        return acquire_all(requests);
      case acquire_mode::any:
        return acquire_any(requests, mode.limit);
      case acquire_mode::each:
        break;
    }
    return acquire_each(requests);
  }

  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    std::vector<change_answer> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) {
      memory_row* held = rows_.granted(request.key, request.owner, request.version);
      if (held == nullptr) {
        answers.push_back(change_answer::lost);
      } else if (held->locked_by != nullptr) {
        answers.push_back(change_answer::busy);
      } else {
        held->expires_at = rows_.now() + request.ttl;
        held->ttl = request.ttl;
        answers.push_back(change_answer::done);
      }
    }
    return answers;
  }

  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    std::vector<lock_key> released;
    auto answers = release_each(requests, released);
    hints_.announce(released);
    return answers;
  }

  handoff_answer do_handoff(const handoff_request& request) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    const auto& [ended, next] = request;
    memory_row* held = rows_.granted(ended.key, ended.owner, ended.version);
    if (held == nullptr) return {.ended = change_answer::lost};
    if (held->locked_by != nullptr) return {.ended = change_answer::busy};
    rows_.release(*held, ended);
    return {.ended = change_answer::done, .granted = try_to_grant(next).version};
  }

  change_answer do_write_note(const note_request& request) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    memory_row* held = rows_.granted(request.key, request.owner, request.version);
    if (held == nullptr) return change_answer::lost;
    if (held->locked_by != nullptr) return change_answer::busy;
    held->shown.note = request.note;
    return change_answer::done;
  }

  change_answer do_ask(const ask_request& request) override {
    {
      const detail::checked_lock lock{rows_.mutex_at_home()};
      const auto found = rows_.by_key.find(request.key);
      if (found == rows_.by_key.end() || !found->second.is_committed) return change_answer::lost;
      memory_row& held = found->second;
      if (!held.owner || held.version != request.version) return change_answer::lost;
      if (held.locked_by != nullptr) return change_answer::busy;
      held.asked_version = held.version;
      held.shown.asked = ask_mark{request.by, request.reason, utc_text()};
    }
    hints_.announce({request.key}, &release_listener::asked);
    return change_answer::done;
  }

  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    if (mode == read_mode::ready_to_commit) make_ready(keys);
    std::vector<std::optional<row_state>> states;
    states.reserve(keys.size());
    for (const auto& key : keys) {
      auto& state = states.emplace_back();
      const auto found = rows_.by_key.find(key);
      if (found == rows_.by_key.end() || !found->second.is_committed) continue;
      state = rows_.state_of(key, found->second);
      if (mode == read_mode::shown && found->second.locked_by != nullptr) {
        state->used_by = "a transaction of this process";
      }
    }
    return states;
  }

  std::unique_ptr<subscription> do_listen(release_listener& listener) override {
    return hints_.listen(listener);
  }

  database_time do_now() override {
    // The times of rows are shown by this clock, too.
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
  std::vector<row_state> do_list(const list_request& request) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    std::vector<row_state> listed;
    auto next = request.after ? rows_.by_key.upper_bound(*request.after) : rows_.by_key.begin();
    for (; next != rows_.by_key.end(); ++next) {
      auto state = rows_.state_of(next->first, next->second);
      if (is_wanted(state, request)) listed.push_back(std::move(state));
    }
    sort_by(request.sort, listed);
    if (request.limit && listed.size() > *request.limit) listed.resize(*request.limit);
    return listed;
  }

  force_answer do_force_release(const force_request& request) override {
    {
      const detail::checked_lock lock{rows_.mutex_at_home()};
      const auto found = rows_.by_key.find(request.key);
      if (found == rows_.by_key.end() || !found->second.is_committed) return force_answer::stale;
      memory_row& taken = found->second;
      const bool is_taken = taken.owner || rows_.is_live(taken);
      if (taken.version != request.version || !is_taken) return force_answer::stale;
      if (taken.locked_by != nullptr) return force_answer::busy;
      taken.shown.forced_from = taken.holder;
      rows_.end(taken, "forced");
      taken.shown.forced_at = utc_text();
      taken.shown.force_reason = request.reason;
    }
    hints_.announce({request.key});
    return force_answer::released;
  }

  purge_answer do_purge(const purge_request& request) override {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    auto next = request.after ? rows_.by_key.upper_bound(*request.after) : rows_.by_key.begin();
    purge_answer answer;
    for (std::size_t checked = 0; next != rows_.by_key.end(); ++checked) {
      if (checked == request.limit) return answer;
      answer.last = next->first;
      if (is_idle(next->second, request.older_than) && !is_needed(next->first)) {
        next = rows_.by_key.erase(next);
        ++answer.purged;
      } else {
        ++next;
      }
    }
    answer.last.reset();
    return answer;
  }

 private:
  [[nodiscard]] bool is_mine(const acquire_request& request) const ROWLOCK_REQUIRES(rows_.mutex) {
    const auto found = rows_.by_key.find(request.key);
    return found != rows_.by_key.end() && found->second.owner == request.owner &&
           rows_.is_live(found->second);
  }

  [[nodiscard]] acquire_answer answer_to(const acquire_request& request) const
      ROWLOCK_REQUIRES(rows_.mutex) {
    const auto found = rows_.by_key.find(request.key);
    if (found == rows_.by_key.end()) {
      return {.status = request.expected ? acquire_status::stale : acquire_status::granted};
    }
    const memory_row& wanted = found->second;
    if (!wanted.is_committed) return {.status = acquire_status::busy};
    const bool is_live_and_mine = is_mine(request);
    if (is_live_and_mine && wanted.locked_by == nullptr) {
      return {.status = acquire_status::granted, .version = wanted.version};
    }
    if (request.expected && (wanted.version != *request.expected ||
                             (wanted.owner.has_value() && !rows_.is_live(wanted)))) {
      return {.status = acquire_status::stale, .version = wanted.version};
    }
    if (request.unless_done && rows_.is_done(wanted) && !is_live_and_mine) {
      return {.status = acquire_status::done,
              .version = wanted.version,
              .done = rows_.state_of(request.key, wanted).done};
    }
    if (rows_.is_live(wanted) && !is_live_and_mine) {
      return {.status = acquire_status::held,
              .version = wanted.version,
              .holder = wanted.holder,
              .remaining = rows_.left_of(wanted)};
    }
    if (wanted.locked_by != nullptr) {
      return {.status = acquire_status::busy, .version = wanted.version};
    }
    return {.status = acquire_status::granted};
  }

  acquire_answer try_to_grant(const acquire_request& request) ROWLOCK_REQUIRES(rows_.mutex) {
    auto answer = answer_to(request);
    if (answer.status != acquire_status::granted) return answer;
    memory_row& granted = rows_.by_key[request.key];
    if (!is_mine(request)) {
      if (granted.owner && granted.owner != request.owner) {
        ++granted.shown.expiry_count;
        answer.took_over_expired = true;
        answer.holder = granted.holder;
        answer.remaining = rows_.left_of(granted);
      }
      rows_.move_version(granted);
      answer.version = granted.version;
      granted.owner = request.owner;
      granted.holder = request.holder;
      granted.acquired_at = utc_text();
      granted.acquired_when = rows_.now();
    }
    granted.expires_at = rows_.now() + request.ttl;
    granted.ttl = request.ttl;
    granted.correlation_id = request.correlation_id;
    return answer;
  }

  std::vector<acquire_answer> acquire_each(std::span<const acquire_request> requests)
      ROWLOCK_REQUIRES(rows_.mutex) {
    std::vector<acquire_answer> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) answers.push_back(try_to_grant(request));
    return answers;
  }

  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests)
      ROWLOCK_REQUIRES(rows_.mutex) {
    std::vector<acquire_answer> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) answers.push_back(answer_to(request));
    const bool are_granted = std::all_of(answers.begin(), answers.end(), [](const auto& answer) {
      return answer.status == acquire_status::granted;
    });
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (are_granted) {
        answers[i] = try_to_grant(requests[i]);
      } else if (answers[i].status == acquire_status::granted) {
        answers[i] = {.status = acquire_status::withheld};
      }
    }
    return answers;
  }

  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t limit) ROWLOCK_REQUIRES(rows_.mutex) {
    std::vector<acquire_answer> answers(requests.size(), {.status = acquire_status::withheld});
    std::size_t granted = 0;
    const auto grant_if = [&](const auto& condition) {
      rows_.mutex.assume_locked();
      for (std::size_t i = 0; i < requests.size() && granted < limit; ++i) {
        if (answers[i].status == acquire_status::granted || !condition(requests[i])) continue;
        if (answer_to(requests[i]).status != acquire_status::granted) continue;
        answers[i] = try_to_grant(requests[i]);
        ++granted;
      }
    };
    grant_if([this](const acquire_request& request) {
      rows_.mutex.assume_locked();
      return is_mine(request);
    });
    grant_if([this](const acquire_request& request) {
      rows_.mutex.assume_locked();
      return rows_.by_key.contains(request.key);
    });
    grant_if([](const acquire_request&) { return true; });
    return answers;
  }

  std::vector<change_answer> release_each(std::span<const release_request> requests,
                                          std::vector<lock_key>& released) {
    const detail::checked_lock lock{rows_.mutex_at_home()};
    std::vector<change_answer> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) {
      memory_row* held = rows_.granted(request.key, request.owner, request.version);
      if (held == nullptr) {
        answers.push_back(change_answer::lost);
      } else if (held->locked_by != nullptr) {
        answers.push_back(change_answer::busy);
      } else {
        rows_.release(*held, request);
        answers.push_back(change_answer::done);
        released.push_back(request.key);
      }
    }
    return answers;
  }

  void make_ready(std::span<const lock_key> keys) ROWLOCK_REQUIRES(rows_.mutex) {
    for (const auto& key : keys) {
      const auto [found, is_new] = rows_.by_key.try_emplace(key);
      memory_row& prepared = found->second;
      if (is_new) {
        rows_.move_version(prepared);
      } else if (prepared.locked_by == nullptr && prepared.owner && !rows_.is_live(prepared)) {
        rows_.end(prepared, "ran out");
        ++prepared.shown.expiry_count;
      }
    }
  }

  [[nodiscard]] bool is_idle(const memory_row& found, std::chrono::microseconds older_than) const {
    return found.is_committed && found.locked_by == nullptr && !found.owner &&
           !rows_.is_live(found) && !rows_.is_done(found) &&
           found.version.number < rows_.now_us() - older_than.count();
  }

  [[nodiscard]] bool is_needed(const lock_key& key) const ROWLOCK_REQUIRES(rows_.mutex) {
    if (!key.type.ends_with("#0")) return false;
    const auto name = key.type.substr(0, key.type.size() - 1);
    for (int number = 1; number <= 1000; ++number) {
      if (rows_.by_key.contains(
              {.type = name + std::to_string(number), .source_id = key.source_id})) {
        return true;
      }
    }
    return false;
  }

  memory_rows& rows_;
  release_hints hints_;
};

}  // namespace detail

class memory_store::impl {
 public:
  explicit impl(std::shared_ptr<time_source> time) : rows{std::move(time)} {}

  detail::memory_rows rows;
  detail::memory_port port{rows};
};

memory_store::memory_store(std::shared_ptr<time_source> time)
    : memory_store{detail::make_owned_at_home<impl>(std::move(time))} {}

memory_store::memory_store(detail::owned_at_home<impl> made)
    : passing_store{made->port}, impl_{std::move(made)} {}

memory_store::~memory_store() = default;

detail::memory_rows& memory_store::rows() const noexcept { return impl_->rows; }

}  // namespace rowlock
