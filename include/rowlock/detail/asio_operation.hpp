// Asio operations over the calls of async.hpp.
#ifndef ROWLOCK_DETAIL_ASIO_OPERATION_HPP
#define ROWLOCK_DETAIL_ASIO_OPERATION_HPP

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/error.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "rowlock/async.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

class asio_operation {
 public:
  asio_operation() = default;
  asio_operation(const asio_operation&) = delete;
  asio_operation& operator=(const asio_operation&) = delete;
  virtual ~asio_operation() = default;

  /// Drops the handler without calling it.
  virtual void abandon() = 0;
};

/// The pending operations of one execution context. Destroying the context destroys their handlers.
class asio_operations final : public asio::execution_context::service {
 public:
  /// Identifies the service to Asio.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): Asio writes into it
  static inline asio::execution_context::id id;

  /// Shared with operations that outlive the context. Thread-safe.
  class registry {
   public:
    /// Returns false if the context is being destroyed.
    bool add(std::shared_ptr<asio_operation> started) {
      const checked_lock lock{mutex_};
      if (!is_closed_) started_.insert(std::move(started));
      return !is_closed_;
    }

    /// Removes the operation. Unless it was abandoned, calls `post`, which posts to the context.
    template <class Post>
    void remove(const std::shared_ptr<asio_operation>& ended, const Post& post) {
      const checked_lock lock{mutex_};
      if (started_.erase(ended) != 0) post();
    }

    void close() {
      std::set<std::shared_ptr<asio_operation>> abandoned;
      {
        const checked_lock lock{mutex_};
        is_closed_ = true;
        abandoned.swap(started_);
      }
      for (const auto& each : abandoned) each->abandon();
    }

   private:
    checked_mutex mutex_;
    std::set<std::shared_ptr<asio_operation>> started_ ROWLOCK_GUARDED_BY(mutex_);
    bool is_closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  };

  explicit asio_operations(asio::execution_context& context) : service{context} {}

  [[nodiscard]] const std::shared_ptr<registry>& started() const noexcept { return started_; }

 private:
  void shutdown() override { started_->close(); }

  const std::shared_ptr<registry> started_ = std::make_shared<registry>();
};

/// Executors without a context, such as that of a future, use Asio's own, which lasts until exit.
template <class Executor>
asio::execution_context& context_of(const Executor& executor) {
  if constexpr (asio::can_query_v<Executor, asio::execution::context_t>) {
    return asio::query(executor, asio::execution::context);
  } else {
    return asio::query(asio::system_executor{}, asio::execution::context);
  }
}

/// Ends by calling `Handler` on its associated executor, and is outstanding work there until then.
template <class Handler>
class asio_operation_for final : public asio_operation,
                                 public std::enable_shared_from_this<asio_operation_for<Handler>> {
 public:
  explicit asio_operation_for(Handler handler)
      : work_{asio::get_associated_executor(handler)},
        slot_{asio::get_associated_cancellation_slot(handler)},
        registry_{asio::use_service<asio_operations>(context_of(work_.get_executor())).started()},
        handler_{std::move(handler)} {}

  /// `start` starts the operation, and may return a handle to cancel it.
  template <class Start>
  void run(const Start& start) {
    if (!registry_->add(this->shared_from_this())) return;
    if (slot_.is_connected()) {
      slot_.assign([started = this->weak_from_this()](asio::cancellation_type_t) {
        if (const auto self = started.lock()) self->cancel();
      });
    }
    pending_ = start();
  }

  template <class... Results>
  void complete(Results... results) {
    registry_->remove(this->shared_from_this(), [&] {
      asio::post(work_.get_executor(), [slot = slot_, handler = std::move(*handler_),
                                        arguments = std::tuple{std::move(results)...}]() mutable {
        slot.clear();
        std::apply(std::move(handler), std::move(arguments));
      });
      handler_.reset();
      work_.reset();
    });
  }

  [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }

 private:
  using executor = asio::associated_executor_t<Handler>;
  using slot = asio::associated_cancellation_slot_t<Handler>;

  void cancel() {
    is_cancelled_ = true;
    pending_.cancel();
  }
  void abandon() override {
    pending_.cancel();
    handler_.reset();
    work_.reset();
  }

  asio::executor_work_guard<executor> work_;
  slot slot_;
  const std::shared_ptr<asio_operations::registry> registry_;
  std::optional<Handler> handler_;
  pending_acquire pending_;
  std::atomic<bool> is_cancelled_{false};
};

inline std::exception_ptr aborted() {
  return std::make_exception_ptr(
      asio::system_error{asio::error::operation_aborted, "the wait for a key was cancelled"});
}

inline bool is_stopped(const acquire_end& end) {
  return end.answer && !end.answer->acquired() &&
         end.answer->refusal().reason == refusal_reason::stopped;
}

using start_acquiring = decltype(start_acquire);

/// The arguments of an acquisition, as one value for a coroutine's frame.
struct asio_attempt {
  lock_table* locks;
  lock_key key;
  acquire_options options;
  start_acquiring* start;
};

struct initiate_acquire {
  template <class Handler>
  void operator()(Handler&& handler, const asio_attempt& wanted) const {
    const auto operation =
        std::make_shared<asio_operation_for<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    operation->run([&] {
      const refusal none{.reason = refusal_reason::stopped, .key = wanted.key};
      try {
        return wanted.start(*wanted.locks, wanted.key, wanted.options,
                            [operation, none](acquire_end end) {
                              if (operation->is_cancelled() && is_stopped(end))
                                end.fault = aborted();
                              if (end.fault != nullptr) {
                                operation->complete(std::move(end.fault), outcome<lease>{none});
                              } else {
                                operation->complete(std::exception_ptr{}, *std::move(end.answer));
                              }
                            });
      } catch (...) {
        operation->complete(std::current_exception(), outcome<lease>{none});
      }
      return pending_acquire{};
    });
  }
};

struct initiate_release {
  template <class Handler>
  void operator()(Handler&& handler, lease ended, end_of_work how) const {
    const auto operation =
        std::make_shared<asio_operation_for<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    operation->run([&] {
      start_release(std::move(ended), how,
                    [operation](release_result result) { operation->complete(result); });
      return pending_acquire{};
    });
  }
};

}  // namespace rowlock::detail

#endif
