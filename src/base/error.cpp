// The error category and the exception.
#include "rowlock/error.hpp"

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
  static const category only;
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

error::error(errc code, const std::string& message)
    : std::system_error{make_error_code(code), message} {}

}  // namespace rowlock
