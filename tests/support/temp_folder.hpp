// A fresh folder that is gone after the test.
#ifndef ROWLOCK_TESTS_SUPPORT_TEMP_FOLDER_HPP
#define ROWLOCK_TESTS_SUPPORT_TEMP_FOLDER_HPP

#include <filesystem>

namespace rowlock::tests {

class temp_folder {
 public:
  explicit temp_folder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;
  ~temp_folder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rowlock::tests

#endif
