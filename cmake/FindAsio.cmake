# Finds standalone Asio as the target Asio::asio. It is headers only and brings no CMake package.
find_path(Asio_INCLUDE_DIR asio.hpp)
mark_as_advanced(Asio_INCLUDE_DIR)
if(EXISTS "${Asio_INCLUDE_DIR}/asio/version.hpp")
  file(STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" version_line
    REGEX "define ASIO_VERSION [0-9]+")
  string(REGEX MATCH "ASIO_VERSION ([0-9]+)" version_line "${version_line}")
  set(version_number "${CMAKE_MATCH_1}")  # 102201 is 1.22.1
  if(version_number)
    math(EXPR major "${version_number} / 100000")
    math(EXPR minor "${version_number} / 100 % 1000")
    math(EXPR patch "${version_number} % 100")
    set(Asio_VERSION "${major}.${minor}.${patch}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio
  REQUIRED_VARS Asio_INCLUDE_DIR
  VERSION_VAR Asio_VERSION
  REASON_FAILURE_MESSAGE "Install libasio-dev, or turn ROWLOCK_ASIO off.")

if(Asio_FOUND AND NOT TARGET Asio::asio)
  find_package(Threads REQUIRED)
  add_library(Asio::asio INTERFACE IMPORTED)
  set_target_properties(Asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Asio_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS ASIO_STANDALONE
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
