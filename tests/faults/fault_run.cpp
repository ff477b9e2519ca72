// A run: workers, faults, and what is found afterwards.
#include "faults/fault_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "faults/books.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t workers = 6;
/// So many times `patience` may pass without any progress, as while a cluster chooses a leader.
constexpr int longest_stall = 3;

std::vector<std::string> urls_on(const proving_ground& ground) {
  std::vector<std::string> urls;
  for (std::size_t slot = 0; slot < workers; ++slot) urls.push_back(ground.url_of(slot));
  return urls;
}

}  // namespace

std::vector<run_size> sizes_from_environment(unsigned divisor) {
  const run_size whole;
  const char* caught = std::getenv("ROWLOCK_FAULTS");  // NOLINT(concurrency-mt-unsafe)
  const auto of_all = caught == nullptr ? whole.acquisitions : std::stoull(caught);
  if (of_all == 0) throw std::invalid_argument{"ROWLOCK_FAULTS is to be above zero"};
  const auto wanted = std::max<std::uint64_t>(of_all / divisor, 1);
  const auto parts = (wanted + whole.acquisitions - 1) / whole.acquisitions;
  const auto of_each = (wanted + parts - 1) / parts;
  const auto in_proportion = [&](std::uint64_t of_whole) {
    return std::max<std::uint64_t>(of_whole * of_each / whole.acquisitions, 1);
  };
  return std::vector<run_size>(parts, {.acquisitions = of_each,
                                       .kills = static_cast<unsigned>(in_proportion(whole.kills)),
                                       .late_tries = in_proportion(whole.late_tries)});
}

fault_run::fault_run(proving_ground& ground, const run_size& size, fencing fences)
    : ground_{ground},
      size_{size},
      connections_before_{ground.connections()},
      sheet_{score_sheet::create(folder_.path() / "sheet")},
      chaos_{seed_},
      workers_{urls_on(ground), folder_.path() / "sheet", fences, seed_} {
  chaos_.add_paced("kills", size.kills, [this] { workers_.replace(draw_victim("killed")); });
  chaos_.add_paced("stops", size.kills, [this] { freeze_worker(); });
  ground.add_faults(chaos_, std::max(size.kills / 40, 1U));
}

void fault_run::make_things_go_wrong() {
  int stalled = 0;
  while (progress() < 1 || !chaos_.has_struck_enough()) {
    const auto goes_on = [this, before = happened()] { return happened() != before; };
    const bool went_on = comes(goes_on, [this] {
      workers_.check();
      chaos_.tick(progress());
    });
    stalled = went_on ? 0 : stalled + 1;
    if (stalled == longest_stall) throw std::runtime_error{"nothing happens: " + totals()};
  }
}

std::uint64_t fault_run::happened() {
  auto all = sheet_.acquisitions() + sheet_.score().late_tries;
  for (const auto& [name, count] : chaos_.tally()) all += count;
  return all;
}

double fault_run::progress() {
  const auto of = [](std::uint64_t done, std::uint64_t wanted) {
    return static_cast<double>(done) / static_cast<double>(wanted);
  };
  return std::min(of(sheet_.acquisitions(), size_.acquisitions),
                  of(sheet_.score().late_tries, size_.late_tries));
}

void fault_run::freeze_worker() {
  const auto slot = draw_victim("stopped");
  workers_.freeze(slot);
  const auto longer_than_the_lease = ttl + std::chrono::milliseconds{chaos_.draw(500)};
  chaos_.later(longer_than_the_lease, [this, slot] { workers_.thaw(slot); });
}

std::size_t fault_run::draw_victim(const std::string& verb) {
  const auto wanted = static_cast<phase>(chaos_.draw(3));
  const auto until = boot_clock::now() + 20ms;
  std::size_t slot = 0;
  do {
    slot = static_cast<std::size_t>(chaos_.draw(static_cast<int>(workers_.size())));
    if (sheet_.is_in(slot, wanted)) break;
    std::this_thread::sleep_for(100us);
  } while (boot_clock::now() < until);
  if (sheet_.is_in(slot, phase::holding)) ++victims_[verb + " holding a lease"];
  if (sheet_.is_in(slot, phase::fenced)) ++victims_[verb + " in a fenced transaction"];
  return slot;
}

std::vector<std::string> fault_run::keys_left_taken() {
  chaos_.heal();
  sheet_.stop();
  workers_.kill_half();

  const auto rows = open_locks(ground_.url());
  lock_table locks{*rows, {.ttl = ttl, .margin = margin}};
  struct open_key {
    int key;
    std::string why = "held";
  };
  std::vector<open_key> left;
  for (int key = 0; key < keys; ++key) left.push_back({key});
  const auto is_acquired = [&](open_key& open) {
    try {
      return locks.try_acquire(lock_key_of(open.key)).acquired();
    } catch (const error& thrown) {
      open.why = thrown.what();  // the last of what went wrong has its effects; not for long
      return false;
    }
  };
  (void)comes([&] {
    std::erase_if(left, is_acquired);
    return left.empty();
  });
  workers_.await_half();

  std::vector<std::string> caught;
  for (const auto& [key, why] : left) caught.push_back("key " + std::to_string(key) + ": " + why);
  return caught;
}

std::vector<std::string> fault_run::connections_left() const {
  std::size_t now = 0;
  const auto are_gone = [&] {
    now = ground_.connections();
    return now <= connections_before_;
  };
  if (comes(are_gone)) return {};
  return {std::to_string(now) + " connections, " + std::to_string(connections_before_) +
          " before the run"};
}

history fault_run::what_happened() const {
  auto seen = read_books(*open_books(ground_.url()));
  seen.beliefs = sheet_.beliefs();
  return seen;
}

std::string fault_run::totals() {
  std::ostringstream text;
  const auto& counts = sheet_.score();
  text << ground_.name() << ": " << sheet_.acquisitions() << " acquisitions (" << counts.leases
       << " leases, of them " << counts.extended << " extended, " << counts.asked
       << " asked for and " << counts.passed_on << " passed on, " << counts.row_locks
       << " row locks), " << counts.refusals << " refused, " << counts.commits << " commits, "
       << counts.unknown_outcomes << " unknown outcomes, " << counts.faults
       << " faults reported\n  former holders: " << counts.late_tries << " tries to commit, "
       << counts.late_refusals << " refused by the fence, " << counts.late_commits << " committed; "
       << counts.surprised << " more refused that did not know\n  ";
  auto struck = chaos_.tally();
  struck.insert(victims_.begin(), victims_.end());
  const char* separator = "";
  for (const auto& [name, count] : struck) {
    text << separator << count << ' ' << name;
    separator = ", ";
  }
  return text.str();
}

}  // namespace rowlock::tests
