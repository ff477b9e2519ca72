// A base class for stores that forward calls to another store.
#ifndef ROWLOCK_PORT_PASSING_STORE_HPP
#define ROWLOCK_PORT_PASSING_STORE_HPP

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock {

/// The calls that a passing_store forwards.
enum class store_call {
  acquire,
  renew,
  release,
  handoff,
  write_note,
  ask,
  read,
  list,
  force_release,
  purge,
  history,
  purge_history,
  inspect,
  now,
  weak_settings,
};

/// A call to make on a store. A reference: do not keep it.
class work_on_store {
 public:
  template <class Work>
  explicit work_on_store(Work& work)
      : work_{&work}, run_{[](void* made, store& target) {
          (*static_cast<Work*>(made))(target);
        }} {}

  void operator()(store& target) const { run_(work_, target); }

 private:
  void* work_;
  void (*run_)(void*, store&);
};

/// Override `pass` for all calls, or the virtual of one call. In a chain of stores only the first
/// one checks the requests. Thread-safety: that of the store it forwards to, which must outlive it.
class ROWLOCK_EXPORT passing_store : public store {
 public:
  /// A template, so that a `target` that is a passing_store is forwarded to, not copied.
  template <std::derived_from<store> Target>
  explicit passing_store(Target& target) : target_{&target} {}

 protected:
  /// For a store that overrides `pass`, `do_listen` and `do_limits`: there is no `target`.
  passing_store() = default;

  /// Calls `work` on the store behind this one, once unless it throws.
  virtual void pass(store_call /*made*/, work_on_store work) {
    target_->home().require();
    work(*target_);
  }

  [[nodiscard]] store& target() const noexcept { return *target_; }

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    return passed(store_call::acquire, [&](store& to) { return to.do_acquire(requests, mode); });
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return passed(store_call::renew, [&](store& to) { return to.do_renew(requests); });
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return passed(store_call::release, [&](store& to) { return to.do_release(requests); });
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    return passed(store_call::handoff, [&](store& to) { return to.do_handoff(request); });
  }
  change_answer do_write_note(const note_request& request) override {
    return passed(store_call::write_note, [&](store& to) { return to.do_write_note(request); });
  }
  change_answer do_ask(const ask_request& request) override {
    return passed(store_call::ask, [&](store& to) { return to.do_ask(request); });
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    return passed(store_call::read, [&](store& to) { return to.do_read(keys, mode); });
  }
  std::unique_ptr<subscription> do_listen(release_listener& listener) override {
    return target_->listen(listener);
  }
  [[nodiscard]] store_limits do_limits() const noexcept override { return target_->limits(); }
  std::vector<row_state> do_list(const list_request& request) override {
    return passed(store_call::list, [&](store& to) { return to.do_list(request); });
  }
  force_answer do_force_release(const force_request& request) override {
    return passed(store_call::force_release,
                  [&](store& to) { return to.do_force_release(request); });
  }
  purge_answer do_purge(const purge_request& request) override {
    return passed(store_call::purge, [&](store& to) { return to.do_purge(request); });
  }
  history_page do_history(const history_request& request) override {
    return passed(store_call::history, [&](store& to) { return to.do_history(request); });
  }
  std::size_t do_purge_history(const history_purge_request& request) override {
    return passed(store_call::purge_history,
                  [&](store& to) { return to.do_purge_history(request); });
  }
  inspection do_inspect() override {
    return passed(store_call::inspect, [](store& to) { return to.do_inspect(); });
  }
  database_time do_now() override {
    return passed(store_call::now, [](store& to) { return to.do_now(); });
  }
  std::vector<std::string> do_weak_settings() override {
    return passed(store_call::weak_settings, [](store& to) { return to.do_weak_settings(); });
  }

 private:
  template <class Work>
  std::invoke_result_t<const Work&, store&> passed(store_call made, const Work& work) {
    std::optional<std::invoke_result_t<const Work&, store&>> answer;
    auto keeping = [&](store& to) { answer.emplace(work(to)); };
    pass(made, work_on_store{keeping});
    return std::move(answer).value();
  }

  store* target_ = nullptr;
};

}  // namespace rowlock

#endif
