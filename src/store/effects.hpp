// The possible effects of a failed call.
#ifndef ROWLOCK_STORE_EFFECTS_HPP
#define ROWLOCK_STORE_EFFECTS_HPP

namespace rowlock::detail {

enum class effects {
  none,      ///< Nothing: the call only read, or its changes end with its transaction.
  possible,  ///< A statement that writes was sent.
  made,      ///< A part of the call is done.
};

}  // namespace rowlock::detail

#endif
