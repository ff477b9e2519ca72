// Code as a document shows it, for tests that execute it.
#ifndef ROWLOCK_TESTS_SUPPORT_DOCUMENTED_HPP
#define ROWLOCK_TESTS_SUPPORT_DOCUMENTED_HPP

#include <string>

namespace rowlock::tests {

/// A place in the documents: between the heading `## heading` or `### heading` of the file and the
/// next one.
struct documented_place {
  std::string file;
  std::string heading;
};

/// The first code block of `language` there that contains `words`. Throws when there is none.
std::string documented(const documented_place& place, const std::string& language,
                       const std::string& words = {});

/// `text` with every `from` replaced.
std::string with_each(std::string text, const std::string& from, const std::string& to);

}  // namespace rowlock::tests

#endif
