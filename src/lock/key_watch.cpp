// The handle of a watch on a key.
#include <utility>

#include "lease/lease_keeper.hpp"
#include "rowlock/watch.hpp"

namespace rowlock {

key_watch::key_watch(std::shared_ptr<detail::lease_keeper> keeper,
                     std::shared_ptr<detail::watched_entry> added) noexcept
    : keeper_{std::move(keeper)}, added_{std::move(added)} {}

key_watch::key_watch(key_watch&& other) noexcept = default;

key_watch& key_watch::operator=(key_watch&& other) noexcept {
  if (this != &other) {
    end();
    keeper_ = std::move(other.keeper_);
    added_ = std::move(other.added_);
  }
  return *this;
}

key_watch::~key_watch() { end(); }

void key_watch::end() noexcept {
  if (added_ != nullptr) keeper_->end_watch(added_);
}

}  // namespace rowlock
