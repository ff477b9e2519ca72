// What kind of fault an exception is.
#include "base/fault_kind.hpp"

namespace rowlock::detail {

std::optional<errc> kind_of(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const error& thrown) {
    return thrown.kind();
  } catch (...) {
    return std::nullopt;
  }
}

bool may_pass(const std::exception_ptr& fault) {
  const auto kind = kind_of(fault);
  return kind == errc::unavailable || kind == errc::outcome_unknown;
}

}  // namespace rowlock::detail
