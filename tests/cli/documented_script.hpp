// The scripts of docs/sql.md, as a shell runs them.
#ifndef ROWLOCK_TESTS_CLI_DOCUMENTED_SCRIPT_HPP
#define ROWLOCK_TESTS_CLI_DOCUMENTED_SCRIPT_HPP

#include <map>
#include <string>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

/// The first block of `language` below the heading that has `containing`.
std::string documented_sql(const std::string& heading, const std::string& language,
                           const std::string& containing = {});

/// `text` with `added` before the first `place`.
std::string with_before(const std::string& text, const std::string& place,
                        const std::string& added);

/// Runs `shell` in a folder of its own, which is also its home, where `script` is nightly.sql and
/// each further file is what `files` says. The rowlock command is on the path.
result run_nightly(const std::string& shell, const std::string& script,
                   std::map<std::string, std::string> environment,
                   const std::map<std::string, std::string>& files = {});

}  // namespace rowlock::tests

#endif
