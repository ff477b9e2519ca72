// What a lease knows without asking, and its release.
#include "rowlock/lease.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "lease/lease_keeper.hpp"

namespace rowlock {

using detail::lease_phase;

lease::lease(std::shared_ptr<detail::keeper> keeper,
             std::shared_ptr<detail::kept_lease> kept) noexcept
    : keeper_{std::move(keeper)}, kept_{std::move(kept)} {}

lease::lease(lease&& other) noexcept = default;

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    end_quietly();
    keeper_ = std::move(other.keeper_);
    kept_ = std::move(other.kept_);
  }
  return *this;
}

lease::~lease() { end_quietly(); }

bool lease::rides() const noexcept { return kept_ && kept_->ride != 0; }

void lease::end_quietly() noexcept {
  if (rides()) {
    // Most likely there is nothing left to do, so nobody should wait for the answer.
    keeper_->release_later(*kept_);
  } else {
    release();
  }
}

const lock_key& lease::key() const noexcept { return kept_->key; }

version lease::token() const noexcept { return kept_->token; }

std::stop_token lease::lost() const noexcept { return kept_->lost.get_token(); }

boot_clock::time_point lease::valid_until() const noexcept { return kept_->valid_until; }

bool lease::is_valid() const noexcept {
  return kept_->phase == lease_phase::held && keeper_->now() < valid_until() &&
         keeper_->home().is_here();
}

boot_clock::duration lease::remaining() const noexcept {
  if (!is_valid()) return boot_clock::duration::zero();
  return std::max(valid_until() - keeper_->now(), boot_clock::duration::zero());
}

note_result lease::write_note(const std::string& note) const {
  if (!is_valid()) return note_result::lost;
  return keeper_->write_note({kept_->key, kept_->owner, kept_->token, note});
}

release_result lease::release() noexcept {
  return kept_ ? keeper_->release(*kept_, {}) : release_result::lost;
}

void detail::lease_riding::require_home(const lease& riding) { riding.keeper_->home().require(); }

release_request detail::lease_riding::to_release(const lease& riding) {
  return riding.kept_->to_release(riding.keeper_->now());
}

void detail::lease_riding::begin(const lease& riding, version unset_as) noexcept {
  riding.kept_->ride = unset_as.number;
}

void detail::lease_riding::commit(const lease& riding) noexcept {
  riding.keeper_->released_by_commit(*riding.kept_);
}

void detail::lease_riding::doubt(const lease& riding) noexcept {
  if (riding.kept_->ride != 0) riding.keeper_->release_later(*riding.kept_);
}

void detail::lease_riding::look_for_losses(
    std::span<const std::reference_wrapper<const lease>> doubted) noexcept {
  try {
    std::map<keeper*, kept_leases> of;  // not all are of one lock_table, perhaps
    for (const lease& each : doubted) of[each.keeper_.get()].push_back(each.kept_);
    for (const auto& [keeper, leases] : of) keeper->look_for_losses(leases);
  } catch (const std::bad_alloc&) {  // the next renewals find out
  }
}

release_result lease::release_as_done(std::chrono::milliseconds keep_for) noexcept {
  return keeper_->release(*kept_, {.done_for = keep_for});
}

release_result lease::release_all(std::span<lease> ended, const detail::work_end& how) noexcept {
  std::vector<detail::kept_lease*> kept;
  kept.reserve(ended.size());
  for (const auto& each : ended) {
    if (each.kept_) kept.push_back(each.kept_.get());
  }
  if (kept.empty()) return release_result::released;
  const auto results = ended.front().keeper_->release(kept, how);
  const auto is = [&](release_result result) {
    return std::find(results.begin(), results.end(), result) != results.end();
  };
  if (is(release_result::lost)) return release_result::lost;
  return is(release_result::deferred) ? release_result::deferred : release_result::released;
}

release_result lease::release_after_failure() noexcept {
  return keeper_->release(*kept_, {.failed = true});
}

}  // namespace rowlock
