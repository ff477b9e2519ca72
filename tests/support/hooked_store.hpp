// A memory_store whose calls a test can count, await, hold up or make fail.
#ifndef ROWLOCK_TESTS_SUPPORT_HOOKED_STORE_HPP
#define ROWLOCK_TESTS_SUPPORT_HOOKED_STORE_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rowlock/port/passing_store.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

class hooked_store final : public passing_store {
 public:
  using hook = std::function<void()>;

  explicit hooked_store(const std::shared_ptr<time_source>& time)
      : hooked_store{std::make_unique<memory_store>(time)} {}

  /// `before` runs at the beginning of each such call, `after` when the database has answered.
  void before(const std::string& operation, hook run) { set(before_, operation, std::move(run)); }
  void after(const std::string& operation, hook run) { set(after_, operation, std::move(run)); }

  /// The sizes of the batches of one operation so far.
  [[nodiscard]] std::vector<std::size_t> batches(const std::string& operation) {
    const std::scoped_lock lock{mutex_};
    return batches_[operation];
  }

  /// Returns once `count` such calls in all have begun.
  void await(const std::string& operation, std::size_t count) {
    if (!await(operation, count, patience)) {
      throw std::runtime_error{"no " + operation + " came"};
    }
  }

  /// Returns once `count` such calls in all have ended.
  void await_answers(const std::string& operation, std::size_t count) {
    std::unique_lock lock{mutex_};
    if (!called_.wait_for(lock, patience, [&] { return ended_[operation] >= count; })) {
      throw std::runtime_error{operation + " did not end"};
    }
  }

  /// Moves `time` on, step by step, until `count` such calls in all have begun. The step has to be
  /// small where time must not run past something else, as the threads of a busy machine are late.
  void await_moving(manual_time& time, const std::string& operation, std::size_t count,
                    std::chrono::milliseconds step = std::chrono::milliseconds{20}) {
    await_that([&] { return await(operation, count, std::chrono::milliseconds{3}); },
               [&] { time.advance(step); });
  }

  /// Moves `time` on, step by step, until one more such call has begun and ended.
  void await_one_more(manual_time& time, const std::string& operation,
                      std::chrono::milliseconds step = std::chrono::milliseconds{20}) {
    const auto count = batches(operation).size() + 1;
    await_moving(time, operation, count, step);
    await_answers(operation, count);
  }

  /// The last handoff, late: its hook has thrown before.
  handoff_answer hand_over_late() {
    const std::scoped_lock lock{mutex_};
    return rows_->handoff(last_hand_over_.value());
  }
  /// Otherwise it announces nothing.
  void let_listen() { listens_ = true; }
  /// The last one; a memory_store does not announce what others do.
  [[nodiscard]] release_listener& listener() const { return *listener_.load(); }
  void weaken(std::vector<std::string> settings) {
    const std::scoped_lock lock{mutex_};
    weak_settings_ = std::move(settings);
  }

  [[nodiscard]] memory_store& rows() noexcept { return *rows_; }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    return hooked(name_of(mode), requests.size(),
                  [&] { return passing_store::do_acquire(requests, mode); });
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return hooked("renew", requests.size(), [&] { return passing_store::do_renew(requests); });
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return hooked("release", requests.size(), [&] { return passing_store::do_release(requests); });
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    {
      const std::scoped_lock lock{mutex_};
      last_hand_over_ = request;
    }
    return hooked("hand_over", 1, [&] { return passing_store::do_handoff(request); });
  }
  change_answer do_ask(const ask_request& request) override {
    return hooked("ask", 1, [&] { return passing_store::do_ask(request); });
  }
  change_answer do_write_note(const note_request& request) override {
    return hooked("write_note", 1, [&] { return passing_store::do_write_note(request); });
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    return hooked(name_of(mode), keys.size(), [&] { return passing_store::do_read(keys, mode); });
  }
  std::unique_ptr<subscription> do_listen(release_listener& listener) override {
    if (!listens_) return nullptr;
    listener_ = &listener;
    return passing_store::do_listen(listener);
  }
  force_answer do_force_release(const force_request& request) override {
    return hooked("force_release", 1, [&] { return passing_store::do_force_release(request); });
  }
  purge_answer do_purge(const purge_request& request) override {
    return hooked("purge", 1, [&] { return passing_store::do_purge(request); });
  }
  std::vector<std::string> do_weak_settings() override {
    return hooked("weak_settings", 1, [this] {
      const std::scoped_lock lock{mutex_};
      return weak_settings_;
    });
  }

 private:
  static const char* name_of(acquire_mode mode) {
    if (mode.how == acquire_mode::all_or_none) return "acquire_all";
    return mode.how == acquire_mode::any ? "acquire_any" : "acquire";
  }
  static const char* name_of(read_mode mode) {
    if (mode == read_mode::watched) return "watch";
    return mode == read_mode::ready_to_commit ? "prepare" : "read";
  }
  template <class Call>
  std::invoke_result_t<const Call&> hooked(const char* operation, std::size_t requests,
                                           const Call& call) {
    begin(operation, requests);
    auto answer = call();
    end(operation);
    return answer;
  }

  explicit hooked_store(std::unique_ptr<memory_store> rows)
      : passing_store{*rows}, rows_{std::move(rows)} {}

  using hooks = std::map<std::string, hook>;

  void set(hooks& where, const std::string& operation, hook run) {
    const std::scoped_lock lock{mutex_};
    where[operation] = std::move(run);
  }

  /// Called with the mutex held.
  static hook find(const hooks& where, const std::string& operation) {
    const auto found = where.find(operation);
    return found == where.end() || !found->second ? [] {} : found->second;
  }

  bool await(const std::string& operation, std::size_t count, std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    return called_.wait_for(lock, limit, [&] { return batches_[operation].size() >= count; });
  }

  void begin(const std::string& operation, std::size_t size) {
    hook before;  // of this call, whatever is set once it is known to have begun
    {
      const std::scoped_lock lock{mutex_};
      batches_[operation].push_back(size);
      before = find(before_, operation);
    }
    called_.notify_all();
    before();
  }

  void end(const std::string& operation) {
    hook after;
    {
      const std::scoped_lock lock{mutex_};
      after = find(after_, operation);
    }
    after();
    {
      const std::scoped_lock lock{mutex_};
      ++ended_[operation];
    }
    called_.notify_all();
  }

  const std::unique_ptr<memory_store> rows_;
  std::atomic<bool> listens_{false};
  std::atomic<release_listener*> listener_{nullptr};
  std::mutex mutex_;
  std::condition_variable called_;
  hooks before_;                                             // guarded by mutex_
  hooks after_;                                              // guarded by mutex_
  std::map<std::string, std::vector<std::size_t>> batches_;  // guarded by mutex_
  std::map<std::string, std::size_t> ended_;                 // guarded by mutex_
  std::vector<std::string> weak_settings_;                   // guarded by mutex_
  std::optional<handoff_request> last_hand_over_;            // guarded by mutex_
};

/// A door that a test opens. At its end it is open, and no call is inside any more.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  gate(gate&&) = delete;
  gate& operator=(gate&&) = delete;
  ~gate() {
    std::unique_lock lock{mutex_};
    is_open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return inside_ == 0; });
  }

  void open() {
    const std::scoped_lock lock{mutex_};
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock{mutex_};
    was_reached_ = true;
    ++inside_;
    changed_.notify_all();
    const bool opened = changed_.wait_for(lock, patience, [this] { return is_open_; });
    --inside_;
    changed_.notify_all();
    if (!opened) throw std::runtime_error{"the gate stayed shut"};
  }
  /// Returns once a call stands before it, or has passed it.
  void await_visitor() {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, patience, [this] { return was_reached_; })) {
      throw std::runtime_error{"no call came to the gate"};
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;      // guarded by mutex_
  bool was_reached_ = false;  // guarded by mutex_
  std::size_t inside_ = 0;    // guarded by mutex_
};

}  // namespace rowlock::tests

#endif
