// Text output of outcomes, refusals and results.
#include "rowlock/outcome.hpp"

#include <ostream>

#include "rowlock/error.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::detail {

void throw_refused_outcome_was_used() {
  throw error{errc::misuse, "the outcome is refused and has no value: ask acquired() first"};
}

void throw_acquired_outcome_has_no_refusal() {
  throw error{errc::misuse, "the outcome is acquired and has no refusal: ask acquired() first"};
}

}  // namespace rowlock::detail

namespace rowlock {

namespace {

const char* words_for(refusal_reason reason) noexcept {
  switch (reason) {
    case refusal_reason::held:
      return "is held";
    case refusal_reason::busy:
      return "is in use by another transaction";
    case refusal_reason::stale:
      return "has changed meanwhile";
    case refusal_reason::timed_out:
      return "was not free before the wait was over";
    case refusal_reason::stopped:
      return "was not free before the wait was stopped";
    case refusal_reason::already_done:
      return "is done already";
    case refusal_reason::missing:
      return "does not exist";
    case refusal_reason::deadlock:
      return "was not locked, because of a deadlock with another transaction";
  }
  return "was refused";
}

/// Prints tenths of a second, without a change of the stream's format.
void show_seconds(std::ostream& out, std::chrono::microseconds time) {
  const auto tenths = time / std::chrono::milliseconds{100};
  out << tenths / 10 << '.' << tenths % 10 << " s";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, refusal_reason shown) {
  return out << words_for(shown);
}

std::ostream& operator<<(std::ostream& out, const refusal& shown) {
  out << shown.key << ' ' << shown.reason;
  if (shown.done) out << ", since " << shown.done->at << " UTC";
  const bool is_verb = shown.reason == refusal_reason::held;
  if (!shown.holder.empty()) out << (is_verb ? " by " : "; held by ") << shown.holder;
  if (shown.remaining && *shown.remaining > std::chrono::microseconds::zero()) {
    out << ", ";
    show_seconds(out, *shown.remaining);
    out << " of its lease left";
  }
  return out;
}

namespace {

const char* words_for(note_result result) noexcept {
  switch (result) {
    case note_result::written:
      return "written";
    case note_result::busy:
      return "not written: a transaction has the row";
    case note_result::lost:
      return "not written: the lease is over";
  }
  return "unknown";
}

const char* words_for(extend_result result) noexcept {
  switch (result) {
    case extend_result::extended:
      return "extended";
    case extend_result::busy:
      return "not extended: a transaction has the row";
    case extend_result::lost:
      return "not extended: the lease is over";
  }
  return "unknown";
}

const char* words_for(release_result result) noexcept {
  switch (result) {
    case release_result::released:
      return "released";
    case release_result::lost:
      return "lost before it was released";
    case release_result::deferred:
      return "not confirmed yet: the release is tried again";
    case release_result::passed_on:
      return "passed on";
  }
  return "unknown";
}

const char* words_for(commit_result result) noexcept {
  switch (result) {
    case commit_result::committed:
      return "committed";
    case commit_result::stale:
      return "stale: the version has moved on";
  }
  return "unknown";
}

const char* words_for(force_answer answer) noexcept {
  switch (answer) {
    case force_answer::released:
      return "released";
    case force_answer::busy:
      return "not released: a transaction has the row";
    case force_answer::stale:
      return "not released: the row is missing, free, or at another version";
  }
  return "unknown";
}

const char* words_for(ask_result result) noexcept {
  switch (result) {
    case ask_result::asked:
      return "asked";
    case ask_result::free:
      return "not asked: no lease has the key";
    case ask_result::busy:
      return "not asked: another transaction has the row, or its holders change";
  }
  return "unknown";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, ask_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, note_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, extend_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, release_result shown) {
  return out << words_for(shown);
}
std::ostream& operator<<(std::ostream& out, commit_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, force_answer shown) { return out << words_for(shown); }

}  // namespace rowlock
