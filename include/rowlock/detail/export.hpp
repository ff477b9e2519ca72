// What a shared library of rowlock exports.
#ifndef ROWLOCK_DETAIL_EXPORT_HPP
#define ROWLOCK_DETAIL_EXPORT_HPP

/// Marks what a shared library exports. The libraries are compiled with hidden visibility, so
/// nothing else is part of the ABI. It changes nothing in static libraries.
#define ROWLOCK_EXPORT __attribute__((visibility("default")))

#endif
