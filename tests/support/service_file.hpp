// A service file of libpq's, for the length of a test.
#ifndef ROWLOCK_TESTS_SUPPORT_SERVICE_FILE_HPP
#define ROWLOCK_TESTS_SUPPORT_SERVICE_FILE_HPP

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// Found by the environment of this process, so there is one at a time.
class service_file {
 public:
  explicit service_file(const std::string& text) {
    const std::string file = folder_.path() / "pg_service.conf";
    std::ofstream{file} << text;
    setenv("PGSERVICEFILE", file.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  service_file(const service_file&) = delete;
  service_file& operator=(const service_file&) = delete;
  ~service_file() { unsetenv("PGSERVICEFILE"); }  // NOLINT(concurrency-mt-unsafe)

 private:
  temp_folder folder_;
};

}  // namespace rowlock::tests

#endif
