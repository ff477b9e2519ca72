// A store whose calls share statements when they meet.
#include "rowlock/grouping_store.hpp"

#include <exception>
#include <iterator>
#include <string>
#include <utility>

#include "core/batches.hpp"
#include "core/own_fault.hpp"
#include "core/shared_statements.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

using detail::meeting_call;
using detail::statement_kind;

namespace {

/// With the answers or the fault that the thread of its leader leaves there.
template <class Request, class Answer>
struct call final : meeting_call {
  std::span<const Request> asked;
  std::vector<Answer> answers = {};
  std::exception_ptr fault = nullptr;
};

/// Whether the exception just caught leaves open what became of the rows. To release them again
/// would be answered with lost where it was done; to acquire them again, as the same attempt,
/// tells.
bool is_doubt() {
  try {
    throw;
  } catch (const error& thrown) {
    return thrown.kind() == errc::outcome_unknown;
  } catch (...) {
    return false;
  }
}

}  // namespace

class grouping_store::meeting_place {
 public:
  meeting_place(unsigned in_flight, std::size_t at_most) : statements_{in_flight, at_most} {}

  template <class Answer, class Request, class Ask>
  std::vector<Answer> ask(statement_kind kind, std::span<const Request> requests, const Ask& ask) {
    home_.require();
    if (requests.empty()) return {};
    if (const auto begun = statements_.try_begin(kind)) {
      const ending here{statements_, *begun};
      return ask(requests);
    }
    call<Request, Answer> mine{{.kind = kind, .requests = requests.size()}, requests};
    switch (statements_.await(mine)) {
      case meeting_call::fate::leading:
        if (lead(mine, ask) == meeting_call::fate::alone) break;
        [[fallthrough]];
      case meeting_call::fate::answered:
        if (mine.fault != nullptr) std::rethrow_exception(mine.fault);
        return std::move(mine.answers);
      case meeting_call::fate::waiting:
      case meeting_call::fate::alone:
        break;
    }
    return ask(requests);
  }

  [[nodiscard]] std::size_t waiting() const { return statements_.waiting(); }

 private:
  /// Of a statement that nobody shares, however it ends.
  struct ending {
    detail::shared_statements& statements;
    detail::statement_id begun;

    ending(detail::shared_statements& of, detail::statement_id id) : statements{of}, begun{id} {}
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;
    ~ending() { statements.end(begun, {}, {}); }
  };

  /// Makes the statement for all that share it. What became of them.
  template <class Request, class Answer, class Ask>
  meeting_call::fate lead(call<Request, Answer>& leader, const Ask& ask) {
    std::vector<meeting_call*> led{&leader};
    auto became = meeting_call::fate::alone;
    try {
      led = statements_.lead(leader);
      share(led, ask, leader);
      became = meeting_call::fate::answered;
    } catch (...) {  // it may be the fault of one of them: each meets its own alone
      const bool tells_all = leader.kind == statement_kind::release && is_doubt();
      if (led.size() == 1 || tells_all) {
        for (auto* each : led) {
          static_cast<call<Request, Answer>*>(each)->fault =
              detail::own_fault(std::current_exception());
        }
        became = meeting_call::fate::answered;
      }
    }
    statements_.end(leader.statement, led, became);
    return became;
  }

  template <class Request, class Answer, class Ask>
  static void share(const std::vector<meeting_call*>& led, const Ask& ask,
                    call<Request, Answer>& leader) {
    if (led.size() == 1) {
      leader.answers = ask(leader.asked);
      return;
    }
    std::vector<Request> requests;
    for (const auto* each : led) {
      const auto& asked = static_cast<const call<Request, Answer>*>(each)->asked;
      requests.insert(requests.end(), asked.begin(), asked.end());
    }
    auto answers = ask(std::span<const Request>{requests});
    auto next = std::make_move_iterator(answers.begin());
    for (auto* each : led) {
      auto& answered = *static_cast<call<Request, Answer>*>(each);
      const auto end = next + static_cast<std::ptrdiff_t>(answered.asked.size());
      answered.answers.assign(next, end);
      next = end;
    }
  }

  const detail::home_process home_;
  detail::shared_statements statements_;
};

void check(const group_options& options) {
  if (options.at_most == 0 || options.at_most > detail::longest_batch) {
    throw error{errc::misuse, std::to_string(options.at_most) +
                                  " requests in one statement: allow 1 to " +
                                  std::to_string(detail::longest_batch)};
  }
  if (options.in_flight == 0U) {
    throw error{errc::misuse, "no statement may be under way: allow at least one"};
  }
}

grouping_store::grouping_store(store& asked, const group_options& options) : passing_store{asked} {
  check(options);
  place_ = detail::make_owned_at_home<meeting_place>(
      options.in_flight.value_or(asked.statements_at_once()), options.at_most);
}

grouping_store::~grouping_store() = default;

std::vector<acquire_answer> grouping_store::acquire(std::span<const acquire_request> requests) {
  return place_->ask<acquire_answer>(
      statement_kind::acquire, requests,
      [this](std::span<const acquire_request> all) { return asked().acquire(all); });
}

std::vector<release_answer> grouping_store::release(std::span<const release_request> requests) {
  return place_->ask<release_answer>(
      statement_kind::release, requests,
      [this](std::span<const release_request> all) { return asked().release(all); });
}

std::size_t grouping_store::waiting() const { return place_->waiting(); }

}  // namespace rowlock
