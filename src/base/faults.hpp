// Faults as std::exception_ptr: their kind, and a copy for each of several threads.
#ifndef ROWLOCK_BASE_FAULTS_HPP
#define ROWLOCK_BASE_FAULTS_HPP

#include <exception>
#include <optional>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// The same fault in an object of its own, for a thread that is not the only one to be told: who
/// catches an exception may change it, and ThreadSanitizer does not see how those who share one
/// agree on who frees it. What is nested is shared, and so are exceptions that are not ours, and
/// all when there is no memory.
std::exception_ptr copied_fault(const std::exception_ptr& fault) noexcept;

/// None: it is not ours.
std::optional<errc> kind_of(const std::exception_ptr& fault);

/// Whether it may pass by itself: the database is away, or the answer got lost.
bool may_pass(const std::exception_ptr& fault);

}  // namespace rowlock::detail

#endif
