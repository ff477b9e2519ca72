// Invalid options are reported when the store is made, before there is a connection.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// The words of the misuse; empty for anything else.
std::string misuse_of(const postgres_options& options) {
  try {
    const postgres_store made{"postgresql://127.0.0.1:1/none", options};
  } catch (const error& thrown) {
    if (thrown.kind() == errc::misuse) return thrown.what();
  }
  return {};
}

template <class Limit>
void expect_bounds(const char* name, Limit postgres_options::*option, Limit shortest) {
  for (const auto wrong :
       {Limit{-1}, shortest - Limit{1}, Limit::min(), Limit::max(), Limit{25h}}) {
    postgres_options options;
    options.*option = wrong;
    EXPECT_NE(misuse_of(options).find(name), std::string::npos) << name << ": " << wrong.count();
  }
  for (const auto right : {shortest, Limit{24h}}) {
    postgres_options options;
    options.*option = right;
    EXPECT_EQ(misuse_of(options), "");
  }
}

TEST(PostgresOptions, OfTimeAreAboveZeroAndADayAtMost) {
  expect_bounds("pool_timeout", &postgres_options::pool_timeout, 0ms);
  expect_bounds("answer_timeout", &postgres_options::answer_timeout, 1ms);
  expect_bounds("connect_timeout", &postgres_options::connect_timeout, std::chrono::seconds{1});
  expect_bounds("tcp_user_timeout", &postgres_options::tcp_user_timeout, 1ms);
  expect_bounds("statement_timeout", &postgres_options::statement_timeout, 1ms);
  expect_bounds("lock_timeout", &postgres_options::lock_timeout, 1ms);
}

TEST(PostgresOptions, SayHowManyConnectionsAreMeant) {
  for (const unsigned wrong : {0U, 10'001U, 0xFFFFFFFFU}) {
    EXPECT_NE(misuse_of({.pool_size = wrong}).find("pool_size"), std::string::npos) << wrong;
  }
}

TEST(PostgresOptions, TakeTheNameOfATableFromAString) {
  const std::string configured = "app.locks";
  EXPECT_EQ((postgres_options{.table = configured}.table.text()), configured);
}

}  // namespace
}  // namespace rowlock::tests
