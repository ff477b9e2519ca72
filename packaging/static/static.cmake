# Read by CMake after project() where script/package tar links the command statically: with Debian's
# archives, and with a libpq that needs no Kerberos and no LDAP, of which Debian has no archives.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
list(PREPEND CMAKE_LIBRARY_PATH "${ROWLOCK_STATIC_LIBPQ}")
set(CMAKE_EXE_LINKER_FLAGS -static)
# What archives need of each other, in any order.
set(CMAKE_CXX_STANDARD_LIBRARIES
  "-Wl,--start-group ${ROWLOCK_STATIC_LIBPQ}/libpq.a ${ROWLOCK_STATIC_LIBPQ}/libpgcommon.a ${ROWLOCK_STATIC_LIBPQ}/libpgport.a -lpqxx -lmariadb -lssl -lcrypto -lz -Wl,--end-group")
