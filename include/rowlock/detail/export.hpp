// Symbol visibility.
#ifndef ROWLOCK_DETAIL_EXPORT_HPP
#define ROWLOCK_DETAIL_EXPORT_HPP

/// Marks what a shared library exports. The libraries are compiled with hidden visibility, so
/// nothing else is part of the ABI. No effect in static libraries.
#define ROWLOCK_EXPORT __attribute__((visibility("default")))

#endif
