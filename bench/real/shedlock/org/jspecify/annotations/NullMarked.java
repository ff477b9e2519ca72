package org.jspecify.annotations;

/** ShedLock's sources name it; Debian has no package of it, and it does nothing at run time. */
public @interface NullMarked {}
