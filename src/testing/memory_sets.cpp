// Sets of rows, on a map.
#include <algorithm>

#include "rowlock/memory_store.hpp"

namespace rowlock {

std::vector<acquire_answer> memory_store::acquire_all(std::span<const acquire_request> requests) {
  check_set(requests);
  const auto lock = enter();
  std::vector<acquire_answer> answers;
  answers.reserve(requests.size());
  for (const auto& request : requests) answers.push_back(look_at(request));
  const bool are_granted = std::all_of(answers.begin(), answers.end(), [](const auto& answer) {
    return answer.status == acquire_status::granted;
  });
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (are_granted) {
      answers[i] = acquire(requests[i]);
    } else if (answers[i].status == acquire_status::granted) {
      answers[i] = {.status = acquire_status::withheld};
    }
  }
  return answers;
}

std::vector<acquire_answer> memory_store::acquire_any(std::span<const acquire_request> requests,
                                                      std::size_t at_most) {
  check_set(requests);
  const auto lock = enter();
  std::vector<acquire_answer> answers(requests.size(), {.status = acquire_status::withheld});
  std::size_t granted = 0;
  const auto grant_if = [&](const auto& condition) {
    for (std::size_t i = 0; i < requests.size() && granted < at_most; ++i) {
      if (answers[i].status == acquire_status::granted || !condition(requests[i])) continue;
      if (look_at(requests[i]).status != acquire_status::granted) continue;
      answers[i] = acquire(requests[i]);
      ++granted;
    }
  };
  grant_if([this](const acquire_request& request) { return is_mine(request); });
  grant_if([this](const acquire_request& request) { return rows_.contains(request.key); });
  grant_if([](const acquire_request&) { return true; });
  return answers;
}

}  // namespace rowlock
