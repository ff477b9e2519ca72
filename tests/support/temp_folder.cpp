// A fresh folder that is gone after the test.
#include "support/temp_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace rowlock::tests {

temp_folder::temp_folder(const std::filesystem::path& parent) {
  std::string name = parent / "rowlock_test_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error{errno, std::generic_category(), "mkdtemp"};
  }
  path_ = name;
}

temp_folder::~temp_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rowlock::tests
