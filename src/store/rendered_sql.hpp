// Statement texts for one table, rendered at first use.
#ifndef ROWLOCK_STORE_RENDERED_SQL_HPP
#define ROWLOCK_STORE_RENDERED_SQL_HPP

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace rowlock::detail {

/// Replacements for the `{name}` placeholders of a text. A replacement may contain placeholders,
/// too.
using sql_words = std::map<std::string_view, std::string>;

/// Returns `text` with its placeholders replaced. An unknown one stays as it is.
inline std::string with_words(std::string_view text, const sql_words& words) {
  std::string rendered;
  for (;;) {
    const auto begin = text.find('{');
    const auto end = text.find('}', begin);
    if (end == std::string_view::npos) return rendered.append(text);
    const auto found = words.find(text.substr(begin + 1, end - begin - 1));
    rendered += text.substr(0, begin);
    rendered += found == words.end() ? std::string{text.substr(begin, end - begin + 1)}
                                     : with_words(found->second, words);
    text.remove_prefix(end + 1);
  }
}

/// Renders each text once.
///
/// Thread-safety: one thread at a time.
class rendered_sql {
 public:
  using renderer = std::function<std::string(std::string_view)>;

  explicit rendered_sql(renderer render) : render_{std::move(render)} {}

  /// `text` must be a constant of the program: its address identifies it. The reference stays valid
  /// as long as this object lives.
  const std::string& operator()(std::string_view text) {
    const auto [found, is_new] = texts_.try_emplace(text.data());
    if (is_new) found->second = render_(text);
    return found->second;
  }

 private:
  renderer render_;
  std::unordered_map<const char*, std::string> texts_;
};

}  // namespace rowlock::detail

#endif
