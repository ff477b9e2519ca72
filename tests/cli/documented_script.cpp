// The scripts of docs/sql.md, as a shell runs them.
#include "cli/documented_script.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "support/child_process.hpp"
#include "support/documented.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

std::string documented_sql(const std::string& heading, const std::string& language,
                           const std::string& containing) {
  return documented({ROWLOCK_DOCUMENTED_SQL, heading}, language, containing);
}

std::string with_before(const std::string& text, const std::string& place,
                        const std::string& added) {
  const auto at = text.find(place);
  if (at == std::string::npos) throw std::runtime_error{"no '" + place + "' in the document"};
  return text.substr(0, at) + added + text.substr(at);
}

result run_nightly(const std::string& shell, const std::string& script,
                   std::map<std::string, std::string> environment,
                   const std::map<std::string, std::string>& files) {
  const temp_folder folder;
  std::ofstream{folder.path() / "nightly.sql"} << script;
  for (const auto& [name, content] : files) std::ofstream{folder.path() / name} << content;
  environment["HOME"] = folder.path().string();
  environment["PATH"] = std::filesystem::path{ROWLOCK_COMMAND}.parent_path().string() + ':' +
                        std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  child_process process{{"sh", "-c", "cd '" + folder.path().string() + "'\n" + shell}, environment};
  process.close_input();
  return result_of(process);
}

}  // namespace rowlock::tests
