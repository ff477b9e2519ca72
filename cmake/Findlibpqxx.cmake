# Finds libpqxx as the target libpqxx::pqxx. libpqxx 7 brings a CMake package, which is taken first;
# Debian's 6.4 has none, and is found by its header and library. Ask without a version: the package of
# libpqxx 7 says no to any other major version, and then 6.4 would be taken.
find_package(libpqxx CONFIG QUIET)
include(FindPackageHandleStandardArgs)
if(libpqxx_FOUND)
  find_package_handle_standard_args(libpqxx CONFIG_MODE)
  return()
endif()

find_path(libpqxx_INCLUDE_DIR pqxx/pqxx)
find_library(libpqxx_LIBRARY pqxx)
mark_as_advanced(libpqxx_INCLUDE_DIR libpqxx_LIBRARY)
if(EXISTS "${libpqxx_INCLUDE_DIR}/pqxx/version.hxx")
  file(STRINGS "${libpqxx_INCLUDE_DIR}/pqxx/version.hxx" version_line
    REGEX "define PQXX_VERSION \"[0-9.]+\"")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" libpqxx_VERSION "${version_line}")
endif()
find_package(PostgreSQL QUIET)

find_package_handle_standard_args(libpqxx
  REQUIRED_VARS libpqxx_LIBRARY libpqxx_INCLUDE_DIR PostgreSQL_FOUND
  VERSION_VAR libpqxx_VERSION
  REASON_FAILURE_MESSAGE "Install libpqxx-dev, or name an installed libpqxx in CMAKE_PREFIX_PATH.")

if(libpqxx_FOUND AND NOT TARGET libpqxx::pqxx)
  add_library(libpqxx::pqxx UNKNOWN IMPORTED)
  set_target_properties(libpqxx::pqxx PROPERTIES
    IMPORTED_LOCATION "${libpqxx_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libpqxx_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES PostgreSQL::PostgreSQL)
endif()
