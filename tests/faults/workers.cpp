// The workers of a run, which die and are replaced.
#include "faults/workers.hpp"

#include <csignal>
#include <stdexcept>
#include <utility>

namespace rowlock::tests {

namespace {

[[noreturn]] void throw_ended(child_process& worker) {
  throw std::runtime_error{"a worker ended with " + std::to_string(worker.wait()) + ": " +
                           worker.errors()};
}

}  // namespace

workers::workers(std::vector<std::string> urls, std::filesystem::path sheet, fencing fences,
                 unsigned seed)
    : urls_{std::move(urls)}, sheet_{std::move(sheet)}, fences_{fences}, seed_{seed} {
  workers_.resize(urls_.size());
  for (std::size_t slot = 0; slot < size(); ++slot) start(slot);
}

void workers::start(std::size_t slot) {
  seed_ += score_sheet::threads_per_slot;
  workers_[slot] = std::make_unique<child_process>(std::vector<std::string>{
      ROWLOCK_FAULT_WORKER, urls_[slot], sheet_, std::to_string(slot),
      fences_ == fencing::on ? "fenced" : "unfenced", std::to_string(seed_)});
}

void workers::replace(std::size_t slot) {
  workers_[slot]->send_signal(SIGKILL);
  workers_[slot]->wait();
  start(slot);
}

void workers::freeze(std::size_t slot) { workers_[slot]->send_signal(SIGSTOP); }

void workers::thaw(std::size_t slot) { workers_[slot]->send_signal(SIGCONT); }

void workers::check() const {
  for (const auto& each : workers_) {
    if (each->has_ended()) throw_ended(*each);
  }
}

void workers::kill_half() {
  for (std::size_t slot = 0; slot < size(); slot += 2) workers_[slot]->send_signal(SIGKILL);
}

void workers::await_half() {
  for (std::size_t slot = 1; slot < size(); slot += 2) {
    if (workers_[slot]->wait() != 0) throw_ended(*workers_[slot]);
  }
  workers_.clear();
}

}  // namespace rowlock::tests
