package org.jspecify.annotations;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** ShedLock's sources name it; Debian has no package of it, and it does nothing at run time. */
@Target(ElementType.TYPE_USE)
public @interface Nullable {}
