// One fault, told to several threads.
#ifndef ROWLOCK_BASE_COPIED_FAULT_HPP
#define ROWLOCK_BASE_COPIED_FAULT_HPP

#include <exception>

namespace rowlock::detail {

/// The same fault in an object of its own, for a thread that is not the only one to be told: who
/// catches an exception may change it, and ThreadSanitizer does not see how those who share one
/// agree on who frees it. What is nested is shared, and so are exceptions that are not ours, and
/// all when there is no memory.
std::exception_ptr own_fault(const std::exception_ptr& fault) noexcept;

}  // namespace rowlock::detail

#endif
