// Looks into the lock table to see that the moment is right.
#include "saboteur.hpp"

#include <chrono>
#include <thread>

namespace settlement {

using namespace std::chrono_literals;

std::optional<std::string> saboteur::try_to_kill(worker_process& victim) {
  if (!victim.stop()) return {};
  auto unfinished = unfinished_invoice_of(victim.pid());
  if (unfinished) {
    // A commit that was sent before the stop may still be under way in the server.
    std::this_thread::sleep_for(50ms);
    if (unfinished_invoice_of(victim.pid()) == unfinished) {
      victim.kill();
      return unfinished;
    }
  }
  victim.resume();
  return {};
}

std::optional<std::string> saboteur::unfinished_invoice_of(pid_t pid) {
  // The label of a holder is `host:pid` unless one says otherwise.
  const auto is_his = [wanted = std::to_string(pid)](const std::string& holder) {
    return holder.substr(holder.rfind(':') + 1) == wanted;
  };
  for (const auto& row : locks_.list()) {
    if (row.key.type == "invoice" && row.is_live() && is_his(row.holder)) {
      if (books_.is_settled(row.key.source_id)) return {};
      return row.key.source_id;
    }
  }
  return {};
}

}  // namespace settlement
