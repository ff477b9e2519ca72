# Finds SOCI with some of its backends as the targets SOCI::core and SOCI::<backend>: mysql,
# postgresql, sqlite3. SOCI 4.1 brings a CMake package with other names, which is taken first;
# Debian's 4.0 has none, and is found by its headers and libraries. Ask with
# COMPONENTS <backend>... .
include(FindPackageHandleStandardArgs)

set(SOCI_core_name Core)
set(SOCI_mysql_name MySQL)
set(SOCI_mysql_client MySQL::MySQL)
set(SOCI_postgresql_name PostgreSQL)
set(SOCI_postgresql_client PostgreSQL::PostgreSQL)
set(SOCI_sqlite3_name SQLite3)
set(SOCI_sqlite3_client SQLite::SQLite3)
set(SOCI_package_components "")
foreach(backend IN LISTS SOCI_FIND_COMPONENTS)
  list(APPEND SOCI_package_components ${SOCI_${backend}_name})
endforeach()
find_package(SOCI CONFIG QUIET COMPONENTS ${SOCI_package_components})
if(SOCI_FOUND)
  foreach(part IN ITEMS core ${SOCI_FIND_COMPONENTS})
    if(NOT TARGET SOCI::${part})
      add_library(SOCI::${part} INTERFACE IMPORTED)
      # The client too: the package leaves out one that the project has found before it.
      target_link_libraries(SOCI::${part} INTERFACE
        SOCI::${SOCI_${part}_name} ${SOCI_${part}_client})
    endif()
    set(SOCI_${part}_FOUND TRUE)
  endforeach()
  find_package_handle_standard_args(SOCI CONFIG_MODE HANDLE_COMPONENTS)
else()
  find_path(SOCI_INCLUDE_DIR soci/soci.h)
  find_library(SOCI_core_LIBRARY soci_core)
  set(SOCI_core_needs "")
  set(SOCI_mysql_header mysql.h)
  set(SOCI_mysql_needs mariadb mysqlclient)
  set(SOCI_postgresql_header libpq-fe.h)
  set(SOCI_postgresql_needs pq)
  set(SOCI_sqlite3_header sqlite3.h)
  set(SOCI_sqlite3_needs sqlite3)
  mark_as_advanced(SOCI_INCLUDE_DIR SOCI_core_LIBRARY)
  # The headers of a backend include those of its database's client.
  foreach(backend IN LISTS SOCI_FIND_COMPONENTS)
    find_library(SOCI_${backend}_LIBRARY soci_${backend})
    find_path(SOCI_${backend}_CLIENT_INCLUDE_DIR ${SOCI_${backend}_header}
      PATH_SUFFIXES mariadb mysql postgresql)
    find_library(SOCI_${backend}_CLIENT_LIBRARY
      NAMES ${SOCI_${backend}_needs})
    mark_as_advanced(SOCI_${backend}_LIBRARY SOCI_${backend}_CLIENT_INCLUDE_DIR
      SOCI_${backend}_CLIENT_LIBRARY)
    if(SOCI_${backend}_LIBRARY AND SOCI_${backend}_CLIENT_INCLUDE_DIR
       AND SOCI_${backend}_CLIENT_LIBRARY)
      set(SOCI_${backend}_FOUND TRUE)
    endif()
  endforeach()
  if(EXISTS "${SOCI_INCLUDE_DIR}/soci/version.h")
    file(STRINGS "${SOCI_INCLUDE_DIR}/soci/version.h" version_line
      REGEX "define SOCI_LIB_VERSION +\"[0-9_.]+\"")
    string(REGEX MATCH "[0-9]+(_[0-9]+)+" SOCI_VERSION "${version_line}")
    string(REPLACE "_" "." SOCI_VERSION "${SOCI_VERSION}")
  endif()

  find_package_handle_standard_args(SOCI
    REQUIRED_VARS SOCI_core_LIBRARY SOCI_INCLUDE_DIR
    VERSION_VAR SOCI_VERSION
    HANDLE_COMPONENTS
    REASON_FAILURE_MESSAGE
      "Install libsoci-dev and the client library of each database, or turn ROWLOCK_SOCI off.")

  if(SOCI_FOUND AND NOT TARGET SOCI::core)
    add_library(SOCI::core UNKNOWN IMPORTED)
    set_target_properties(SOCI::core PROPERTIES
      IMPORTED_LOCATION "${SOCI_core_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${SOCI_INCLUDE_DIR}")
  endif()
  foreach(backend IN LISTS SOCI_FIND_COMPONENTS)
    if(SOCI_FOUND AND SOCI_${backend}_FOUND AND NOT TARGET SOCI::${backend})
      add_library(SOCI::${backend} UNKNOWN IMPORTED)
      set_target_properties(SOCI::${backend} PROPERTIES
        IMPORTED_LOCATION "${SOCI_${backend}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${SOCI_${backend}_CLIENT_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "SOCI::core;${SOCI_${backend}_CLIENT_LIBRARY}")
    endif()
  endforeach()
endif()
