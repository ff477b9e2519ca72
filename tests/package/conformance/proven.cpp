// A store that somebody else has written: it counts the calls that reach its rows.
#include <atomic>
#include <rowlock/port/passing_store.hpp>

#include "own_bench.hpp"

namespace {

class counting_store final : public rowlock::passing_store {
 public:
  using passing_store::passing_store;

  std::vector<rowlock::acquire_answer> acquire(
      std::span<const rowlock::acquire_request> requests) override {
    ++calls_;
    return passing_store::acquire(requests);
  }
  std::vector<rowlock::release_answer> release(
      std::span<const rowlock::release_request> requests) override {
    ++calls_;
    return passing_store::release(requests);
  }

 private:
  std::atomic<int> calls_ = 0;
};

}  // namespace

std::vector<rowlock::conformance::bench_kind> rowlock::conformance::every_store() {
  return {
      {.name = "counting", .make = [] { return std::make_unique<own_bench<counting_store>>(); }}};
}
