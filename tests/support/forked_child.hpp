// A child of fork() that goes on in the middle of a test.
#ifndef ROWLOCK_TESTS_SUPPORT_FORKED_CHILD_HPP
#define ROWLOCK_TESTS_SUPPORT_FORKED_CHILD_HPP

#include <functional>
#include <string>
#include <vector>

namespace rowlock::tests {

/// What a child of this process says, after `work` has run in it: the names of what is not as it
/// should be. It has ended then, without the destructors of its globals. One that hangs for half a
/// minute, or crashes, says so.
///
/// `work` gets the list to fill. Assertions of the test framework would be lost in it.
std::vector<std::string> complaints_of_child(
    const std::function<void(std::vector<std::string>&)>& work);

}  // namespace rowlock::tests

#endif
