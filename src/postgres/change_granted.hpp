// Changing rows for those to whom they are granted.
#ifndef ROWLOCK_POSTGRES_CHANGE_GRANTED_HPP
#define ROWLOCK_POSTGRES_CHANGE_GRANTED_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "postgres/request_values.hpp"
#include "postgres/session.hpp"

namespace rowlock::postgres {

/// Asks with `send`, which answers what it changed. Rows that it did not change are busy as long as
/// they are as they were granted, and lost otherwise.
template <class Answer, class Request, class Send>
std::vector<Answer> change_granted(store_call& asking, std::span<const Request> requests,
                                   Answer done, const Send& send) {
  std::vector<Answer> answers(requests.size(), Answer::busy);
  const auto answer_to = [&](const Request& request) -> Answer& {
    return answers[static_cast<std::size_t>(&request - requests.data())];
  };
  asking.unless_contended([&] {
    auto open = all(requests);
    take_out(open, send(open),
             [&](const Request& request, const done_request&) { answer_to(request) = done; });
    if (open.empty()) return;
    const auto seen = asking.look(keys_of(open));
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool is_as_granted =
          seen[i] && seen[i]->is_of(open[i]->owner) && seen[i]->state.version == open[i]->version;
      if (!is_as_granted) answer_to(*open[i]) = Answer::lost;
    }
  });
  return answers;
}

}  // namespace rowlock::postgres

#endif
