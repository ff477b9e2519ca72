// Takes passwords out of messages.
#ifndef ROWLOCK_CLI_PASSWORD_MASK_HPP
#define ROWLOCK_CLI_PASSWORD_MASK_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// The library puts no password into a message. This is for texts of servers, drivers and the
/// system, which nothing promises that of.
///
/// Thread-safety: as a container of the standard library.
class password_mask {
 public:
  /// From this length on a password is masked wherever it stands. A shorter one would hide parts of
  /// other words: it is masked as `:PASSWORD@`, `password=PASSWORD` and `password='PASSWORD'` only.
  static constexpr std::size_t long_enough = 4;

  /// Whatever may be a password in a URL, or in keywords as libpq and SOCI read them: as it is
  /// spelled there, and decoded. Too much rather than too little, as a wrong URL counts as well.
  void learn_url(std::string_view url);
  void learn(std::string_view password);

  /// `text` with `***` for each password.
  [[nodiscard]] std::string apply(std::string text) const;

 private:
  std::vector<std::string> passwords_;  // the longest first
};

}  // namespace rowlock::cli

#endif
