// Faults as std::exception_ptr: their kinds and copies.
#ifndef ROWLOCK_BASE_FAULTS_HPP
#define ROWLOCK_BASE_FAULTS_HPP

#include <exception>
#include <optional>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// A separate copy of a fault that several threads receive. A handler may change the exception that
/// it catches, and ThreadSanitizer does not see the reference count by which threads free a shared
/// one. Nested exceptions and exceptions that are no `error` are not copied, and none is when
/// memory runs out.
std::exception_ptr copied_fault(const std::exception_ptr& fault) noexcept;

/// Nothing for an exception that is no `error`.
std::optional<errc> kind_of(const std::exception_ptr& fault);

bool is_refused_login(const std::exception_ptr& fault);

/// Whether the fault is transient: the database is unreachable, or the answer got lost.
bool may_pass(const std::exception_ptr& fault);

}  // namespace rowlock::detail

#endif
