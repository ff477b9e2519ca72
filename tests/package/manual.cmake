# Whether man finds the pages of an installed command, and the completion scripts stand where shells look:
# cmake -D PREFIX=... -D PAGES=... -P manual.cmake
file(GLOB pages RELATIVE "${PAGES}/man1" "${PAGES}/man1/*.1")
if(NOT EXISTS "${PAGES}/man1/rowlock.1")
  message(FATAL_ERROR "${PAGES}/man1 has no rowlock.1: build rowlock_manual_pages.")
endif()
foreach(page IN LISTS pages)
  string(REGEX REPLACE "\\.1$" "" name "${page}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "MANPATH=${PREFIX}/share/man" man -w 1 "${name}"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT found STREQUAL "${PREFIX}/share/man/man1/${page}")
    message(FATAL_ERROR "man finds ${found} for ${name}")
  endif()
endforeach()

foreach(script IN ITEMS
    bash-completion/completions/rowlock zsh/site-functions/_rowlock fish/vendor_completions.d/rowlock.fish)
  if(NOT EXISTS "${PREFIX}/share/${script}")
    message(FATAL_ERROR "share/${script} is not installed")
  endif()
endforeach()
