// Error category, and kinds and copies of faults.
#include "rowlock/error.hpp"

#include <string>

#include "base/faults.hpp"
#include "base/never_destroyed.hpp"

namespace rowlock {

namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "rowlock"; }

  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<errc>(code)) {
      case errc::unavailable:
        return "it did not happen; try again later";
      case errc::outcome_unknown:
        return "it may have happened";
      case errc::rejected:
        return "it cannot work until that is changed";
      case errc::misuse:
        return "the call is wrong";
      case errc::lease_lost:
        return "nothing was committed";
    }
    return "unknown";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const auto& only = detail::never_destroyed<const category>();
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

error::error(errc code, const std::string& message)
    : std::system_error{make_error_code(code), message} {}

}  // namespace rowlock

namespace rowlock::detail {

namespace {

/// The message without the text that std::system_error appends.
std::string message_of(const error& fault) {
  const std::string text = fault.what();
  const auto behind = ": " + fault.code().message();
  return text.ends_with(behind) ? text.substr(0, text.size() - behind.size()) : text;
}

template <class Copy>
std::exception_ptr copy_of(const error& fault, const Copy& copy) {
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

std::exception_ptr copied_fault(const std::exception_ptr& fault) noexcept {
  try {
    try {
      std::rethrow_exception(fault);
    } catch (const login_refused& thrown) {
      return copy_of(thrown, login_refused{message_of(thrown)});
    } catch (const error& thrown) {
      return copy_of(thrown, error{thrown.kind(), message_of(thrown)});
    }
  } catch (...) {
    return fault;
  }
}

std::optional<errc> kind_of(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const error& thrown) {
    return thrown.kind();
  } catch (...) {
    return std::nullopt;
  }
}

bool is_refused_login(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const login_refused&) {
    return true;
  } catch (...) {
    return false;
  }
}

bool may_pass(const std::exception_ptr& fault) {
  const auto kind = kind_of(fault);
  return kind == errc::unavailable || kind == errc::outcome_unknown;
}

}  // namespace rowlock::detail
