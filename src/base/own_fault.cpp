// One fault, told to several threads.
#include <string>

#include "base/copied_fault.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

namespace {

/// Without what std::system_error has put behind it.
std::string message_of(const error& fault) {
  const std::string text = fault.what();
  const auto behind = ": " + fault.code().message();
  return text.ends_with(behind) ? text.substr(0, text.size() - behind.size()) : text;
}

std::exception_ptr copy_of(const error& fault) {
  const error copy{fault.kind(), message_of(fault)};
  try {
    std::rethrow_if_nested(fault);
  } catch (...) {
    try {
      std::throw_with_nested(copy);
    } catch (...) {
      return std::current_exception();
    }
  }
  return std::make_exception_ptr(copy);
}

}  // namespace

std::exception_ptr own_fault(const std::exception_ptr& fault) noexcept {
  try {
    try {
      std::rethrow_exception(fault);
    } catch (const error& thrown) {
      return copy_of(thrown);
    }
  } catch (...) {
    return fault;
  }
}

}  // namespace rowlock::detail
