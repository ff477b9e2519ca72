// A test program that is killed leaves no process behind.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {
namespace {

/// What is started with it inherits one end of a pipe; so does what that starts. The other end is
/// read to its end when none of them is left, whatever became of their environment, group and
/// parent.
class pipe_to_all {
 public:
  [[nodiscard]] std::vector<std::string> given_to(const std::vector<std::string>& command) const {
    std::vector<std::string> whole{"sh", "-c", R"(exec 9>"$0"; exec "$@")", path_};
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
  }

  child_process& its_processes() { return its_processes_; }

 private:
  static std::string made(const std::string& path) {
    if (mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error{"no pipe at " + path};
    return path;
  }

  temp_folder folder_;
  const std::string path_ = made(folder_.path() / "pipe");
  child_process its_processes_{{"cat", path_}};
};

class KilledProgram : public testing::TestWithParam<std::string> {};

TEST_P(KilledProgram, LeavesNoProcessBehind) {
  pipe_to_all pipe;
  child_process program{pipe.given_to({ROWLOCK_KILLED_PROGRAM, GetParam()})};
  ASSERT_EQ(program.read_line(), "started") << program.errors();
  ASSERT_FALSE(pipe.its_processes().has_ended());
  program.send_signal(SIGKILL);
  EXPECT_EQ(pipe.its_processes().read_rest(), "");
}

INSTANTIATE_TEST_SUITE_P(With, KilledProgram,
                         testing::Values("shell", "fork", "postgres", "mariadb", "cluster"),
                         [](const auto& kind) { return kind.param; });

class KilledScript : public testing::TestWithParam<std::string> {};

TEST_P(KilledScript, LeavesNeitherItsServerNorItsCommandBehind) {
  pipe_to_all pipe;
  child_process script{pipe.given_to({GetParam(), "run", "--", "sh", "-c",
                                      "trap '' INT HUP; echo started; while :; do sleep 1; done"})};
  ASSERT_EQ(script.read_line(), "started") << script.errors();
  script.send_signal(SIGKILL);
  EXPECT_EQ(pipe.its_processes().read_rest(), "");
}

INSTANTIATE_TEST_SUITE_P(Of, KilledScript,
                         testing::Values(ROWLOCK_THROWAWAY_POSTGRES, ROWLOCK_THROWAWAY_MARIADB),
                         [](const auto& script) {
                           return script.param.substr(script.param.rfind('-') + 1);
                         });

}  // namespace
}  // namespace rowlock::tests
