// What a call that fails may have changed.
#ifndef ROWLOCK_STORE_EFFECTS_HPP
#define ROWLOCK_STORE_EFFECTS_HPP

namespace rowlock::detail {

enum class effects {
  none,      ///< Nothing: it only read, or what it did ends with its transaction.
  possible,  ///< A statement that writes was sent.
  made,      ///< A part of the call is done.
};

}  // namespace rowlock::detail

#endif
