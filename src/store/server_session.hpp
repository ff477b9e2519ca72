// A store session on a database server: the calls of the port, as a database makes them.
#ifndef ROWLOCK_STORE_SERVER_SESSION_HPP
#define ROWLOCK_STORE_SERVER_SESSION_HPP

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/key_list.hpp"
#include "store/refusal_of.hpp"
#include "store/session.hpp"
#include "store/unless_rejected.hpp"

namespace rowlock::detail {

/// `Calls` makes the calls of one database, on one connection. It throws the driver's exceptions,
/// and turns them into an `error` with `throw_as_error`, called while one is handled.
template <class Calls>
class server_session final : public session {
 public:
  template <class... Parts>
  explicit server_session(Parts&&... parts) : calls_{std::forward<Parts>(parts)...} {}

  void check_table() override {
    call([&] { calls_.check_table(); });
  }
  [[nodiscard]] bool is_usable() const noexcept override {
    return is_usable_ && calls_.is_usable();
  }
  [[nodiscard]] bool is_alive() const noexcept override { return is_usable() && calls_.is_alive(); }
  void disconnect() noexcept override { calls_.disconnect(); }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    return call([&] { return calls_.acquire(requests, mode); });
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    return call([&] { return calls_.renew(requests); });
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    return call([&] { return calls_.release(requests); });
  }
  handoff_answer do_handoff(const handoff_request& request) override {
    return call([&] { return calls_.handoff(request); });
  }
  change_answer do_write_note(const note_request& request) override {
    return call([&] { return calls_.write_note(request); });
  }
  change_answer do_ask(const ask_request& request) override {
    return call([&] { return calls_.ask(request); });
  }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    return call([&] {
      const auto wanted = list_of(keys);
      if (mode == read_mode::ready_to_commit) return prepared(wanted);
      auto seen = calls_.read(wanted);
      if (mode == read_mode::watched) calls_.watch(wanted, seen);
      auto states = states_of(std::move(seen));
      if (mode != read_mode::shown) return states;
      return with_users(std::move(states),
                        [&](const lock_key& key) { return calls_.used_by(key); });
    });
  }
  std::vector<row_state> do_list(const list_request& request) override {
    return call([&] { return calls_.list(request); });
  }
  force_answer do_force_release(const force_request& request) override {
    return call([&] { return calls_.force_release(request); });
  }
  purge_answer do_purge(const purge_request& request) override {
    return call([&] { return calls_.purge(request); });
  }
  history_page do_history(const history_request& request) override {
    return call([&] { return calls_.history(request); });
  }
  std::size_t do_purge_history(const history_purge_request& request) override {
    return call([&] { return calls_.purge_history(request); });
  }
  inspection do_inspect() override {
    const auto unless_refused = [&](const auto& look) {
      return unless_rejected([&] { return call(look); });
    };
    inspection found = call([&] { return calls_.server(); });
    found.schema = unless_refused([&] { return calls_.schema(); });
    found.missing_rights = unless_refused([&] { return calls_.missing_rights(); });
    found.connection_limit = unless_refused([&] { return calls_.connection_limit(); });
    return found;
  }
  database_time do_now() override {
    return call([&] { return calls_.now(); });
  }
  std::vector<std::string> do_weak_settings() override {
    return call([&] { return calls_.weak_settings(); });
  }

 private:
  template <class Work>
  std::invoke_result_t<const Work&> call(const Work& work) {
    calls_.begin();
    try {
      return work();
    } catch (const std::exception& thrown) {
      if (calls_.needs_new_connection(thrown)) is_usable_ = false;
      calls_.throw_as_error(thrown);
    }
  }

  std::vector<std::optional<row_state>> prepared(const key_list& wanted) {
    auto seen = calls_.read(wanted);
    const auto unfit = unfit_to_commit(seen, calls_.clock_skew());
    if (!unfit.empty()) {
      calls_.prepare(wanted, seen, unfit);
      seen = calls_.read(wanted);
    }
    return states_of(std::move(seen));
  }

  Calls calls_;
  bool is_usable_ = true;
};

}  // namespace rowlock::detail

#endif
