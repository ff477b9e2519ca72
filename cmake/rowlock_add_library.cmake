# Makes every library of the project alike.

# Of a shared library only what is marked with ROWLOCK_EXPORT is visible.
function(rowlock_set_compilation target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
endfunction()

# rowlock_add_engine(<name>
#   SOURCES <source>...   relative to the caller's folder
#   PRIVATE <target>...)  the client library of the database
#
# Adds the objects rowlock_<name>: what the libraries of several drivers of one database share. Compiled
# once, and part of each of these libraries; not installed.
function(rowlock_add_engine name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rowlock_add_engine: what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  add_library(rowlock_${name} OBJECT ${arg_SOURCES})
  target_link_libraries(rowlock_${name} PUBLIC rowlock::core PRIVATE ${arg_PRIVATE})
  rowlock_set_compilation(rowlock_${name})
endfunction()

# The modules of pkg-config that drivers have.
set(module_of_pqxx libpqxx)
set(module_of_pq libpq)
set(module_of_mariadb libmariadb)
set(module_of_sqlite3 sqlite3)

# Of rowlock_add_library, whose variables it reads: writes the component's module of pkg-config.
macro(rowlock_install_pkg_config)
  set(pc_name rowlock)
  if(NOT component STREQUAL "core")
    set(pc_name rowlock-${component})
    list(PREPEND arg_MODULES "rowlock = ${PROJECT_VERSION}")
  endif()
  string(REGEX REPLACE "[^/]+" ".." pc_to_prefix "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  set(pc_libs "")
  if(arg_SOURCES)
    set(pc_libs "-L\${libdir}" -l${file_name})
  endif()
  set(pc_static_modules "")
  # A static library is linked with its drivers, a shared one brings them along. They are named by flags: with
  # --static, the modules of shared drivers would name what only their archives need. Those of archives do.
  if(NOT BUILD_SHARED_LIBS)
    foreach(driver IN LISTS arg_DRIVERS)
      find_library(rowlock_pc_${driver} ${driver})
      mark_as_advanced(rowlock_pc_${driver})
      cmake_path(GET rowlock_pc_${driver} PARENT_PATH folder)
      if(rowlock_pc_${driver} AND NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND pc_libs "-L${folder}")
      endif()
      list(APPEND pc_libs -l${driver})
      if(rowlock_pc_${driver} MATCHES "\\.a$")
        list(APPEND pc_static_modules ${module_of_${driver}})
      endif()
    endforeach()
    if(component STREQUAL "core")
      list(APPEND pc_libs -pthread)
    endif()
  endif()
  list(JOIN pc_libs " " pc_libs)
  list(JOIN arg_MODULES ", " pc_modules)
  list(JOIN arg_CFLAGS " " pc_cflags)
  list(JOIN pc_static_modules ", " pc_static_modules)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/rowlock.pc.in" "${PROJECT_BINARY_DIR}/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endmacro()

# rowlock_add_library(<component>
#   HEADERS <header>...  public ones, relative to the project's folder: include/rowlock/x.hpp
#   SOURCES <source>...  relative to the caller's folder; none: the library is its headers
#   ENGINES <name>...    whose objects become part of it
#   PUBLIC <target>...   what users of the library see
#   PRIVATE <target>...  what only its sources see: drivers
#   DESCRIPTION <text>   this and the next three: for pkg-config
#   MODULES <name>...    the modules of PUBLIC, but for core
#   CFLAGS <flag>...     beside the include folder
#   DRIVERS <name>...    the libraries of PRIVATE and of what it needs, in the linker's order)
#
# Adds the target rowlock_<component> with the alias rowlock::<component>, and its install rules in
# an export set of its own, rowlock-<component>. The file of core is librowlock, that of another
# component librowlock_<component>; the modules of pkg-config are rowlock and rowlock-<component>.
function(rowlock_add_library component)
  cmake_parse_arguments(PARSE_ARGV 1 arg 
    "" "DESCRIPTION" "HEADERS;SOURCES;ENGINES;PUBLIC;PRIVATE;MODULES;CFLAGS;DRIVERS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rowlock_add_library: what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()

  set(target rowlock_${component})
  if(arg_SOURCES)
    set(own PRIVATE)
    set(public PUBLIC)
    add_library(${target})
    rowlock_set_compilation(${target})
    if(BUILD_SHARED_LIBS AND PROJECT_IS_TOP_LEVEL)  # a symbol that core does not export is missed here, not in a program
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  else()
    set(public INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(rowlock::${component} ALIAS ${target})

  foreach(engine IN LISTS arg_ENGINES)
    list(APPEND arg_SOURCES $<TARGET_OBJECTS:rowlock_${engine}>)
  endforeach()
  list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/")
  target_sources(${target}
    ${own} ${arg_SOURCES}
    ${public} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
  target_link_libraries(${target} ${public} ${arg_PUBLIC} ${own} ${arg_PRIVATE})
  target_compile_features(${target} ${public} cxx_std_20)
  set(file_name ${target})
  if(component STREQUAL "core")
    set(file_name rowlock)
  endif()
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${component}
    OUTPUT_NAME ${file_name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})

  if(ROWLOCK_INSTALL)
    install(TARGETS ${target} EXPORT rowlock-${component} FILE_SET HEADERS)
    install(EXPORT rowlock-${component}
      FILE rowlock-${component}-targets.cmake
      NAMESPACE rowlock::
      DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/rowlock")
    rowlock_install_pkg_config()
  endif()
endfunction()
