// Coroutine and completion-token interface to leases, for standalone Asio.
#ifndef ROWLOCK_ASIO_HPP
#define ROWLOCK_ASIO_HPP

#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rowlock/async.hpp"
#include "rowlock/detail/asio_operation.hpp"
#include "rowlock/lock_table.hpp"

// No call here blocks. The lock_table executes all statements in its own threads
// (`lock_options::blocking_threads`). A waiting operation occupies no thread. The lock_table must
// outlive the calls but not their operations: its destructor ends them.
//
// Handlers run on their associated executor. Cancellation of any type, through the handler's
// associated cancellation slot, ends an acquisition at once, even during a statement, with
// `asio::error::operation_aborted`. The acquisition leaves the wait queue, and a later grant is
// released. A wait ended by `wait.stop` or by the lock_table's destructor is refused as `stopped`.
// Destroying the execution context destroys the pending handlers and ends their attempts.
//
// GCC 12 destroys a braced temporary in a co_await expression twice, whatever the function:
// `async_acquire(locks, {"job", id})` may crash. Write `async_acquire(locks, "job", id)`, or name
// the key first. Always name the options.

namespace rowlock {

namespace detail {

inline lock_key key_of(std::string_view type, std::string_view id) {
  return {std::string{type}, std::string{id}};
}

template <class Awaitable>
struct awaited;
template <class Result, class Executor>
struct awaited<asio::awaitable<Result, Executor>> {
  using result = std::decay_t<Result>;
  using token = asio::use_awaitable_t<Executor>;
  using outcome_awaitable = asio::awaitable<outcome<result>, Executor>;
};

template <class Callback>
auto call_under(Callback& callback, const lease& held) {
  if constexpr (std::is_invocable_v<Callback&, const lease&>) {
    return std::invoke(callback, held);
  } else {
    static_assert(std::is_invocable_v<Callback&>,
                  "the callback takes `const rowlock::lease&` or nothing");
    return std::invoke(callback);
  }
}

template <class Callback>
using awaited_under =
    awaited<decltype(call_under(std::declval<Callback&>(), std::declval<const lease&>()))>;

template <class Token>
auto async_acquire(asio_attempt wanted, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr, outcome<lease>)>(
      initiate_acquire{}, token, std::move(wanted));
}

template <class Token>
auto async_release(lease ended, end_of_work how, Token&& token) {
  return asio::async_initiate<Token, void(release_result)>(initiate_release{}, token,
                                                           std::move(ended), how);
}

// A false alarm: GCC 12 inlines parts of Asio's coroutine frames.
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
template <class Callback>
auto async_run_under(asio_attempt wanted, Callback callback, end_of_work success) ->
    typename awaited_under<Callback>::outcome_awaitable {
  using result = typename awaited_under<Callback>::result;
  const typename awaited_under<Callback>::token token;

  auto acquired = co_await async_acquire(std::move(wanted), token);
  if (!acquired.acquired()) co_return acquired.refusal();
  lease held = *std::move(acquired);
  std::conditional_t<std::is_void_v<result>, std::optional<bool>, std::optional<result>> value;
  std::exception_ptr thrown;
  try {
    if constexpr (std::is_void_v<result>) {
      co_await call_under(callback, std::as_const(held));
    } else {
      value.emplace(co_await call_under(callback, std::as_const(held)));
    }
  } catch (...) {
    thrown = std::current_exception();
  }

  // A cancelled coroutine must release too.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  const end_of_work how = thrown ? end_of_work{.failed = true} : success;
  const auto ended = co_await async_release(std::move(held), how, token);
  co_await asio::this_coro::throw_if_cancelled(throws);

  if (thrown) std::rethrow_exception(thrown);
  const bool kept = was_kept(ended);
  if constexpr (std::is_void_v<result>) {
    co_return outcome<void>{kept};
  } else {
    co_return outcome<result>{*std::move(value), kept};
  }
}
#pragma GCC diagnostic pop

}  // namespace detail

/// `lock_table::try_acquire`. Completes with `void(std::exception_ptr, outcome<lease>)`. If the
/// exception pointer is set, the outcome is meaningless. In a coroutine the result is an
/// `outcome<lease>`, and the exception is thrown. A lease that goes out of scope releases its row
/// in the current thread and blocks it; `async_release` does not block.
template <class Token = asio::use_awaitable_t<>>
auto async_acquire(lock_table& locks, lock_key key, acquire_options options = {},
                   Token&& token = {}) {
  return detail::async_acquire({&locks, std::move(key), std::move(options), start_acquire}, token);
}

/// The type or the source id of a key. Excludes braced lists.
template <class T>
concept part_of_key = std::convertible_to<const T&, std::string_view>;

/// The same, with the two parts of the key as arguments.
template <class Token = asio::use_awaitable_t<>>
auto async_acquire(lock_table& locks, const part_of_key auto& type, const part_of_key auto& id,
                   acquire_options options = acquire_options(), Token&& token = Token()) {
  return detail::async_acquire(
      {&locks, detail::key_of(type, id), std::move(options), start_acquire}, token);
}

/// `lease::release`. Completes with `void(release_result)`. Cannot be cancelled.
template <class Token = asio::use_awaitable_t<>>
auto async_release(lease ended, Token&& token = {}) {
  return detail::async_release(std::move(ended), {}, token);
}

/// `lock_table::with_lock` for coroutines. `callback` takes `const lease&` or nothing and returns
/// an `asio::awaitable<T>`; awaiting this function returns an `outcome<T>`. The row is unset after
/// the coroutine returns, throws or is cancelled. If Asio destroys the coroutine without resuming
/// it, the destroying thread unsets the row.
template <class Callback>
auto async_with_lock(lock_table& locks, lock_key key, Callback callback,
                     acquire_options options = {}) {
  return detail::async_run_under({&locks, std::move(key), std::move(options), start_acquire},
                                 std::move(callback), {});
}

/// The same, with the two parts of the key as arguments.
template <class Callback>
auto async_with_lock(lock_table& locks, const part_of_key auto& type, const part_of_key auto& id,
                     Callback callback, acquire_options options = acquire_options()) {
  return detail::async_run_under(
      {&locks, detail::key_of(type, id), std::move(options), start_acquire}, std::move(callback),
      {});
}

/// `lock_table::with_lock_once` for coroutines. A `keep_for` out of range throws at once (misuse).
template <class Callback>
auto async_with_lock_once(lock_table& locks, lock_key key, Callback callback,
                          once_options options = {}) {
  const end_of_work success{.done_for = options.keep_for};
  check(success);
  return detail::async_run_under(
      {&locks, std::move(key), std::move(options.acquire), start_acquire_once}, std::move(callback),
      success);
}

/// The same, with the two parts of the key as arguments.
template <class Callback>
auto async_with_lock_once(lock_table& locks, const part_of_key auto& type,
                          const part_of_key auto& id, Callback callback,
                          once_options options = once_options()) {
  return async_with_lock_once(locks, detail::key_of(type, id), std::move(callback),
                              std::move(options));
}

}  // namespace rowlock

#endif
