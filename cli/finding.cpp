// What a check of rowlock doctor has found.
#include "cli/finding.hpp"

namespace rowlock::cli {

std::string to_text(check_status shown) {
  switch (shown) {
    case check_status::ok:
      return "ok";
    case check_status::warning:
      return "warning";
    case check_status::failed:
      return "failed";
    case check_status::skipped:
      break;
  }
  return "skipped";
}

}  // namespace rowlock::cli
