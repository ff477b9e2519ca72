// Where the URL comes from: the command line, a file, or the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliUrlSourceTest : public testing::Test {
 protected:
  [[nodiscard]] std::string file_with(const std::string& text, mode_t mode = 0600) const {
    const std::string path = folder_.path() / "url";
    std::ofstream{path} << text;
    chmod(path.c_str(), mode);
    return path;
  }
  [[nodiscard]] std::string url_of(const std::string& name) const {
    return "sqlite://" + (folder_.path() / name).string();
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }
  static result with_variable(const std::string& value, const words& arguments) {
    return run(words{"env", "ROWLOCK_URL=" + value, ROWLOCK_COMMAND} + arguments);
  }

  const temp_folder folder_;
};

TEST_F(CliUrlSourceTest, AFileOfWhichTheFirstLineCounts) {
  const auto made = run_rowlock({"migrate", "--url-file", file_with(url_of("a") + " \r\nmore\n")});
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_TRUE(has("a"));
  EXPECT_EQ(run_rowlock({"list", "--url-file", file_with(url_of("a"))}).code, 0);
}

TEST_F(CliUrlSourceTest, APipe) {
  const auto made =
      run({"bash", "-c", R"("$0" migrate --url-file <(echo "$1"))", ROWLOCK_COMMAND, url_of("a")});
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_TRUE(has("a"));
}

TEST_F(CliUrlSourceTest, AFileThatOthersCanUseIsRefused) {
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    const auto path = file_with("postgresql://app:sesame@127.0.0.1:1/shop", mode);
    const auto refused = run_rowlock({"list", "--url-file", path});
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.errors,
                AllOf(HasSubstr(path), HasSubstr("chmod 600"), Not(HasSubstr("sesame"))));
  }
}

TEST_F(CliUrlSourceTest, AFileWithoutAUrlIsRefused) {
  for (const std::string& wrong :
       {file_with(""), std::string{folder_.path()}, (folder_.path() / "none").string()}) {
    const auto refused = run_rowlock({"list", "--url-file", wrong});
    EXPECT_EQ(refused.code, 64) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr(wrong));
  }
  EXPECT_THAT(run_rowlock({"list", "--url-file", file_with("\n" + url_of("a"))}).errors,
              HasSubstr("no URL in its first line"));
}

TEST_F(CliUrlSourceTest, AVariable) {
  EXPECT_EQ(with_variable(url_of("a"), {"migrate"}).code, 0);
  EXPECT_TRUE(has("a"));
  const auto ran = with_variable(
      url_of("a"), {"run", "--type", "a", "--source", "b", "--", "sh", "-c", "echo $ROWLOCK_URL"});
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output, url_of("a") + '\n');
}

TEST_F(CliUrlSourceTest, TheCommandLineGoesFirst) {
  EXPECT_EQ(with_variable(url_of("a"), {"migrate", url_of("b")}).code, 0);
  EXPECT_EQ(with_variable(url_of("a"), {"migrate", "--url-file", file_with(url_of("c"))}).code, 0);
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b"));
  EXPECT_TRUE(has("c"));
  EXPECT_EQ(with_variable(url_of("a"), {"list", ""}).code, 64) << "an empty URL was given";
}

TEST_F(CliUrlSourceTest, OneOfThemIsNeededAndTwoAreRefused) {
  for (const auto& none :
       {with_variable("", {"list"}), run({"env", "-u", "ROWLOCK_URL", ROWLOCK_COMMAND, "list"})}) {
    EXPECT_EQ(none.code, 64);
    EXPECT_THAT(none.errors, AllOf(HasSubstr("--url-file"), HasSubstr("ROWLOCK_URL")));
  }
  const auto both = run_rowlock({"list", url_of("a"), "--url-file", file_with(url_of("b"))});
  EXPECT_EQ(both.code, 64);
  EXPECT_THAT(both.errors, Not(HasSubstr(url_of("a"))));
}

}  // namespace

}  // namespace rowlock::tests
