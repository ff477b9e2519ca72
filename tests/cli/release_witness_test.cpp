// A witness of the command's own release, which passes all other calls on.
#include <gtest/gtest.h>

#include <array>
#include <chrono>

#include "cli/loss_reporter.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

class counting_listener final : public release_listener {
 public:
  void released(const lock_key& /*key*/) noexcept override { ++notified; }
  void listening() noexcept override {}

  int notified = 0;
};

TEST(ReleaseWitness, HandsOnWhatThoseWhoWaitAskFor) {
  memory_store rows;
  watched_store watched{rows};
  cli::release_witness witness{watched};
  const acquire_request request{.key = {"job", "a"},
                                .owner = make_owner_id(),
                                .holder = "host:1",
                                .ttl = std::chrono::hours{1}};
  const auto granted = witness.acquire(std::array{request}).at(0).version.value();

  counting_listener listener;
  const auto subscribed = witness.listen(listener);
  EXPECT_NE(subscribed, nullptr);
  EXPECT_TRUE(witness.read(std::array{request.key}, read_mode::watched).at(0)->is_live());
  watched.await_refusals(1);
  witness.release(std::array{release_request{request.key, request.owner, granted}});
  EXPECT_EQ(listener.notified, 1);
}

}  // namespace
}  // namespace rowlock::tests
