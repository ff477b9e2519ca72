// Refusals in words.
#include "rowlock/refusal.hpp"

#include <ostream>

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
  }
  return "was refused";
}

/// Tenths of a second, without touching the stream's own format.
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
    out << " for another ";
    show_seconds(out, *shown.remaining);
  }
  return out;
}

}  // namespace rowlock
