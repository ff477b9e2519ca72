// A store that passes every call on, for those that watch or change some of them.
#ifndef ROWLOCK_PORT_PASSING_STORE_HPP
#define ROWLOCK_PORT_PASSING_STORE_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/port/store.hpp"

namespace rowlock {

/// Derive from it and override what is to be otherwise.
///
/// Thread-safety: that of the store it passes on to, which must outlive it.
class passing_store : public store {
 public:
  explicit passing_store(store& asked) : asked_{asked} {}

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return asked_.acquire(requests);
  }
  std::vector<acquire_answer> acquire_all(std::span<const acquire_request> requests) override {
    return asked_.acquire_all(requests);
  }
  std::vector<acquire_answer> acquire_any(std::span<const acquire_request> requests,
                                          std::size_t at_most) override {
    return asked_.acquire_any(requests, at_most);
  }
  std::vector<renew_answer> renew(std::span<const renew_request> requests) override {
    return asked_.renew(requests);
  }
  std::vector<release_answer> release(std::span<const release_request> requests) override {
    return asked_.release(requests);
  }
  handoff_answer handoff(const handoff_request& request) override {
    return asked_.handoff(request);
  }
  note_answer write_note(const note_request& request) override {
    return asked_.write_note(request);
  }
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return asked_.read(keys);
  }
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return asked_.prepare(keys);
  }
  std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys) override {
    return asked_.watch(keys);
  }
  std::unique_ptr<subscription> listen(release_listener& listener) override {
    return asked_.listen(listener);
  }
  std::vector<row_state> list() override { return asked_.list(); }
  std::optional<std::string> used_by(const lock_key& key) override { return asked_.used_by(key); }
  force_answer force_release(const force_request& request) override {
    return asked_.force_release(request);
  }
  purge_answer purge(const purge_request& request) override { return asked_.purge(request); }
  std::vector<std::string> weak_settings() override { return asked_.weak_settings(); }
  [[nodiscard]] unsigned statements_at_once() const noexcept override {
    return asked_.statements_at_once();
  }
  [[nodiscard]] std::size_t sharing_pays_from() const noexcept override {
    return asked_.sharing_pays_from();
  }

 protected:
  [[nodiscard]] store& asked() const noexcept { return asked_; }

 private:
  store& asked_;
};

}  // namespace rowlock

#endif
