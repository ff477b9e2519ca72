// The lease of one key, and of a set of keys.
#include "rowlock/lease.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "lease/lease_keeper.hpp"

namespace rowlock {

using detail::lease_phase;

risk_watch::risk_watch(std::shared_ptr<detail::lease_keeper> keeper,
                       std::shared_ptr<detail::lease_state> watched,
                       std::shared_ptr<detail::risk> added) noexcept
    : keeper_{std::move(keeper)}, watched_{std::move(watched)}, added_{std::move(added)} {}

risk_watch::risk_watch(risk_watch&& other) noexcept = default;

risk_watch& risk_watch::operator=(risk_watch&& other) noexcept {
  if (this != &other) {
    end();
    keeper_ = std::move(other.keeper_);
    watched_ = std::move(other.watched_);
    added_ = std::move(other.added_);
  }
  return *this;
}

risk_watch::~risk_watch() { end(); }

void risk_watch::end() noexcept {
  if (added_ != nullptr) keeper_->end_watch(*watched_, added_);
}

lease::lease(std::shared_ptr<detail::lease_keeper> keeper,
             std::shared_ptr<detail::lease_state> kept) noexcept
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

bool lease::is_released_by_transaction() const noexcept {
  return kept_ && kept_->release_transaction != 0;
}

void lease::end_quietly() noexcept {
  if (is_released_by_transaction()) {
    // The transaction has most likely released the row, so waiting for an answer is not worthwhile.
    keeper_->releaser().release_later(*kept_);
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
  return keeper_->write_note(*kept_, note);
}

void lease::progress() const noexcept {
  if (kept_->progress_within) kept_->progress_at = keeper_->now();
}

extend_result lease::extend(std::chrono::milliseconds ttl) const {
  return keeper_->extend(kept_, ttl);
}

risk_watch lease::watch_risk(std::chrono::milliseconds before,
                             std::function<void(bool at_risk)> callback) const {
  return {keeper_, kept_, keeper_->watch_risk(*kept_, before, std::move(callback))};
}

std::stop_token lease::wanted() const { return keeper_->wanted(*kept_); }

std::optional<ask_mark> lease::asked() const { return keeper_->asked(*kept_); }

std::string lease::pass_on() const { return keeper_->pass_on(*kept_); }

release_result lease::release() noexcept {
  return kept_ ? keeper_->releaser().release(*kept_, {}) : release_result::lost;
}

void detail::transactional_release::require_home(const lease& held) {
  held.keeper_->home().require();
}

release_request detail::transactional_release::to_release(const lease& held) {
  return held.kept_->to_release(held.keeper_->now());
}

void detail::transactional_release::begin(const lease& held, version unset_as) noexcept {
  held.kept_->release_transaction = unset_as.number;
}

void detail::transactional_release::commit(const lease& held) noexcept {
  held.keeper_->releaser().released_by_commit(*held.kept_);
}

void detail::transactional_release::doubt(const lease& held) noexcept {
  if (held.kept_->release_transaction != 0) held.keeper_->releaser().release_later(*held.kept_);
}

void detail::transactional_release::read_for_losses(
    std::span<const std::reference_wrapper<const lease>> doubted) noexcept {
  try {
    std::map<lease_keeper*, lease_states> of;  // the leases may come from several lock_tables
    for (const lease& each : doubted) of[each.keeper_.get()].push_back(each.kept_);
    for (const auto& [keeper, leases] : of) keeper->read_for_losses(leases);
  } catch (const std::bad_alloc&) {  // the next renewals find the losses
  }
}

release_result lease::release_as_done(std::chrono::milliseconds keep_for) noexcept {
  return keeper_->releaser().release(*kept_, {.done_for = keep_for});
}

namespace {

int badness_of(release_result result) {
  switch (result) {
    case release_result::released:
      return 0;
    case release_result::passed_on:
      return 1;
    case release_result::deferred:
      return 2;
    case release_result::lost:
      break;
  }
  return 3;
}

}  // namespace

release_result lease::release_all(std::span<lease> ended, const detail::work_result& how) noexcept {
  auto worst = release_result::released;
  const auto add = [&worst](release_result result) {
    if (badness_of(result) > badness_of(worst)) worst = result;
  };
  try {
    std::vector<detail::lease_state*> kept;
    kept.reserve(ended.size());
    for (const auto& each : ended) {
      if (each.kept_) kept.push_back(each.kept_.get());
    }
    if (kept.empty()) return worst;
    std::vector<release_result> results(kept.size());
    ended.front().keeper_->releaser().release(kept, results, how);
    std::for_each(results.begin(), results.end(), add);
  } catch (const std::bad_alloc&) {  // none has ended: one after the other needs less memory
    for (const auto& each : ended) {
      if (each.kept_) add(each.keeper_->releaser().release(*each.kept_, how));
    }
  }
  return worst;
}

release_result lease::release_after_failure() noexcept {
  return keeper_->releaser().release(*kept_, {.failed = true});
}

namespace {

bool is_before(const lease& one, const lease& other) { return one.key() < other.key(); }

}  // namespace

lease_set::lease_set(std::stop_source lost, std::vector<lease> leases) noexcept
    : lost_{std::move(lost)}, leases_{std::move(leases)} {
  std::sort(leases_.begin(), leases_.end(), is_before);
}

lease_set::lease_set(lease_set&& other) noexcept = default;

lease_set& lease_set::operator=(lease_set&& other) noexcept {
  if (this != &other) {
    release();
    lost_ = std::move(other.lost_);
    leases_ = std::move(other.leases_);
  }
  return *this;
}

lease_set::~lease_set() {
  const bool may_be_unset = std::any_of(leases_.begin(), leases_.end(), [](const lease& each) {
    return each.is_released_by_transaction();
  });
  if (!may_be_unset) release();  // otherwise each lease ends in its destructor, without a wait
}

const lease* lease_set::find(const lock_key& key) const {
  const auto found = std::lower_bound(
      leases_.begin(), leases_.end(), key,
      [](const lease& each, const lock_key& wanted) { return each.key() < wanted; });
  return found != leases_.end() && found->key() == key ? &*found : nullptr;
}

boot_clock::time_point lease_set::valid_until() const noexcept {
  auto earliest = boot_clock::time_point::max();
  for (const auto& each : leases_) earliest = std::min(earliest, each.valid_until());
  return earliest;
}

bool lease_set::is_valid() const noexcept {
  return std::all_of(leases_.begin(), leases_.end(),
                     [](const lease& each) { return each.is_valid(); });
}

boot_clock::duration lease_set::remaining() const noexcept {
  auto least = boot_clock::duration::max();
  for (const auto& each : leases_) least = std::min(least, each.remaining());
  return least;
}

void lease_set::take(lease_set other) {
  std::move(other.leases_.begin(), other.leases_.end(), std::back_inserter(leases_));
  other.leases_.clear();
  std::sort(leases_.begin(), leases_.end(), is_before);
}

release_result lease_set::release() noexcept { return release(detail::work_result{}); }

release_result lease_set::release_after_failure() noexcept { return release({.failed = true}); }

release_result lease_set::release(const detail::work_result& how) noexcept {
  return lease::release_all(leases_, how);
}

release_result lease_set::release(const lock_key& key) noexcept {
  const auto* found = find(key);
  if (found == nullptr) return release_result::lost;
  const auto place = leases_.begin() + (found - leases_.data());
  const auto result = place->release();
  leases_.erase(place);
  return result;
}

}  // namespace rowlock
