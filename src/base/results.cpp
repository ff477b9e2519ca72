// Results in words.
#include <ostream>

#include "rowlock/lease.hpp"
#include "rowlock/requests.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock {

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

const char* words_for(release_result result) noexcept {
  switch (result) {
    case release_result::released:
      return "released";
    case release_result::lost:
      return "lost before it was released";
    case release_result::deferred:
      return "not confirmed yet: the release is tried again";
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

}  // namespace

std::ostream& operator<<(std::ostream& out, note_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, release_result shown) {
  return out << words_for(shown);
}
std::ostream& operator<<(std::ostream& out, commit_result shown) { return out << words_for(shown); }
std::ostream& operator<<(std::ostream& out, force_answer shown) { return out << words_for(shown); }

}  // namespace rowlock
