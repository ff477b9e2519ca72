// Removal of passwords from messages.
#ifndef ROWLOCK_CLI_PASSWORD_MASK_HPP
#define ROWLOCK_CLI_PASSWORD_MASK_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// The library puts no password into a message. This is for texts of servers, drivers and the
/// system, which do not promise that.
///
/// Thread-safety: as a container of the standard library.
class password_mask {
 public:
  /// A password of this length or more is masked wherever it occurs. A shorter one would hide parts
  /// of other words: it is masked as `:PASSWORD@`, `password=PASSWORD` and `password='PASSWORD'`
  /// only.
  static constexpr std::size_t long_enough = 4;

  /// Learns all that may be a password in a URL, or in keywords as libpq and SOCI read them: as
  /// written, and decoded. It learns too much rather than too little, since the URL may be wrong.
  void learn_url(std::string_view url);
  void learn(std::string_view password);

  /// `text` with `***` in place of each password.
  [[nodiscard]] std::string apply(std::string text) const;

 private:
  std::vector<std::string> passwords_;  // the longest first
};

}  // namespace rowlock::cli

#endif
