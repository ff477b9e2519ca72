// A store of another project: it counts the calls that reach its rows.
#include <atomic>
#include <rowlock/port/passing_store.hpp>

#include "own_bench.hpp"

namespace {

class counting_store final : public rowlock::passing_store {
 public:
  using passing_store::passing_store;

 protected:
  std::vector<rowlock::acquire_answer> do_acquire(
      std::span<const rowlock::acquire_request> requests, rowlock::acquire_mode mode) override {
    ++calls_;
    return passing_store::do_acquire(requests, mode);
  }
  std::vector<rowlock::change_answer> do_release(
      std::span<const rowlock::release_request> requests) override {
    ++calls_;
    return passing_store::do_release(requests);
  }

 private:
  std::atomic<int> calls_ = 0;
};

}  // namespace

std::vector<rowlock::conformance::bench_kind> rowlock::conformance::every_store() {
  return {
      {.name = "counting", .make = [] { return std::make_unique<own_bench<counting_store>>(); }}};
}
