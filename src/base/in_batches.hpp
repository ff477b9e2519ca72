// Many requests, a few at a time.
#ifndef ROWLOCK_BASE_IN_BATCHES_HPP
#define ROWLOCK_BASE_IN_BATCHES_HPP

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace rowlock::detail {

inline constexpr std::size_t longest_batch = 1000;  // rows stay locked while a statement runs

/// The answers of `work` to all requests, in their order.
template <class Answer, class Request, class Work>
std::vector<Answer> in_batches(std::span<const Request> requests, const Work& work,
                               std::size_t longest = longest_batch) {
  if (requests.size() <= longest) return work(requests);
  std::vector<Answer> answers;
  answers.reserve(requests.size());
  for (std::size_t at = 0; at < requests.size(); at += longest) {
    auto some = work(requests.subspan(at, std::min(longest, requests.size() - at)));
    std::move(some.begin(), some.end(), std::back_inserter(answers));
  }
  return answers;
}

}  // namespace rowlock::detail

#endif
