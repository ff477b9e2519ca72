// Lays out tables.
#include "report.hpp"

#include <iomanip>
#include <ostream>

namespace settlement {

void print_workers(std::ostream& out, const course& ended, const audit& found, scoreboard& board) {
  out << "\nworker       settled   refused: held   busy   settled before   lost   end\n";
  for (unsigned number = 0; number < ended.workers.size(); ++number) {
    const auto& one = ended.workers[number];
    const auto& own = board.of(number);
    const auto settled = found.settled_by.find(one.name);
    out << std::left << std::setw(10) << one.name << std::right  //
        << std::setw(10) << (settled == found.settled_by.end() ? 0 : settled->second)
        << std::setw(16) << own.refused_held << std::setw(7) << own.refused_busy  //
        << std::setw(17) << own.already_settled << std::setw(7) << own.lost << "   " << one.ending;
    if (!one.unfinished.empty()) out << ", held " << one.unfinished;
    out << '\n';
  }
}

void print_throughput(std::ostream& out, const course& ended, const audit& found) {
  const double seconds = ended.duration.count();
  out << std::fixed << std::setprecision(1) << "throughput: " << found.invoices << " invoices in "
      << seconds << " s, " << static_cast<double>(found.invoices) / seconds << " per second\n";
}

bool print_claims(std::ostream& out, const std::vector<claim>& claims) {
  bool all_hold = true;
  for (const auto& one : claims) {
    out << (one.holds ? "  holds   " : "  FAILS   ") << one.text << ": " << one.found << '\n';
    all_hold = all_hold && one.holds;
  }
  return all_hold;
}

}  // namespace settlement
