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
template <class Request, class Send>
std::vector<change_answer> change_granted(store_call& asking, std::span<const Request> requests,
                                          const Send& send) {
  std::vector<change_answer> answers(requests.size(), change_answer::busy);
  const auto answer_to = [&](const Request& request) -> change_answer& {
    return answers[static_cast<std::size_t>(&request - requests.data())];
  };
  asking.unless_contended([&] {
    auto open = all(requests);
    take_out(open, send(open), [&](const Request& request, const done_request&) {
      answer_to(request) = change_answer::done;
    });
    if (open.empty()) return;
    const auto seen = asking.look(keys_of(open));
    for (std::size_t i = 0; i < open.size(); ++i) {
      answer_to(*open[i]) = detail::busy_or_lost(seen[i], *open[i]);
    }
  });
  return answers;
}

}  // namespace rowlock::postgres

#endif
