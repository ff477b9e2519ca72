# Compiles the files of the page into the command, so that it reads none while it runs.

# rowlock_embed_web(<target> <file>...)
#
# Adds a generated source to <target> that defines what cli/serve/web_files.hpp declares: the files in this
# order, by their names without folders. It is made anew when one of them has changed.
function(rowlock_embed_web target)
  set(rows "")
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${file} is missing: script/bootstrap installs what is not in this repository.")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    foreach(forbidden IN ITEMS ")rowlock_web\"" "</script")
      string(FIND "${text}" "${forbidden}" clash)
      # page.html has scripts of its own.
      if(NOT clash EQUAL -1 AND NOT (forbidden STREQUAL "</script" AND file MATCHES "\\.html$"))
        message(FATAL_ERROR "${file} contains ${forbidden}, which ends the text that it is embedded in.")
      endif()
    endforeach()
    get_filename_component(name "${file}" NAME)
    string(APPEND rows "    {\"${name}\", R\"rowlock_web(${text})rowlock_web\"},\n")
  endforeach()
  # A template, not CONTENT: what stands between @ in a file must stay as it is.
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded_web.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_web.cpp.in" "${generated}" @ONLY)
  target_sources(${target} PRIVATE "${generated}")
  # Its texts are longer than clang-tidy lets a literal be.
  set_source_files_properties("${generated}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
