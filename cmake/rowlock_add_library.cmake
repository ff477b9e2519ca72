# Makes every library of the project alike.

# rowlock_add_library(<component>
#   HEADERS <header>...  public ones, relative to the project's folder: include/rowlock/x.hpp
#   SOURCES <source>...  relative to the caller's folder; none: the library is its headers
#   PUBLIC <target>...   what users of the library see
#   PRIVATE <target>...  what only its sources see: drivers)
#
# Adds the target rowlock_<component> with the alias rowlock::<component>, and its install rules in
# an export set of its own, rowlock-<component>.
function(rowlock_add_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rowlock_add_library: what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()

  set(target rowlock_${component})
  if(arg_SOURCES)
    set(own PRIVATE)
    set(public PUBLIC)
    add_library(${target})
  else()
    set(public INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(rowlock::${component} ALIAS ${target})

  list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/")
  target_sources(${target}
    ${own} ${arg_SOURCES}
    ${public} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
  if(arg_SOURCES)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  endif()
  target_link_libraries(${target} ${public} ${arg_PUBLIC} ${own} ${arg_PRIVATE})
  target_compile_features(${target} ${public} cxx_std_20)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${component}
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})

  if(ROWLOCK_INSTALL)
    install(TARGETS ${target} EXPORT rowlock-${component} FILE_SET HEADERS)
    install(EXPORT rowlock-${component}
      FILE rowlock-${component}-targets.cmake
      NAMESPACE rowlock::
      DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/rowlock")
  endif()
endfunction()
