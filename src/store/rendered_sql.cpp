// Statement texts for one table, rendered at first use.
#include "store/rendered_sql.hpp"

namespace rowlock::detail {

std::string with_words(std::string_view text, const sql_words& words) {
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

}  // namespace rowlock::detail
