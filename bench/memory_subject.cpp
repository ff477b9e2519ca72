// The store in memory: what the rules cost without a database.
#include "rowlock/testing/memory_store.hpp"
#include "subject.hpp"

namespace rowlock::bench {
namespace {

class memory_subject final : public subject {
 public:
  store& locks() override { return locks_; }
  row_locker connect() override {
    return [this](const lock_key& key) {
      return with_row_lock<memory_transaction>(locks_, key, no_wait(), [](memory_transaction&) {})
          .acquired();
    };
  }

 private:
  memory_store locks_;
};

}  // namespace

std::unique_ptr<subject> make_memory_subject() { return std::make_unique<memory_subject>(); }

}  // namespace rowlock::bench
