# Compiles a program for each component with the flags that pkg-config names, links it with those of --libs and
# with those of --static --libs, and runs both:
# cmake -D PREFIX=... -D BUILD=... -D COMPILER=... -D "FLAGS=..." -P pkg_config.cmake
file(REMOVE_RECURSE "${BUILD}")
file(MAKE_DIRECTORY "${BUILD}")
file(GLOB_RECURSE modules "${PREFIX}/*/rowlock*.pc")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
foreach(module IN LISTS modules)
  cmake_path(GET module PARENT_PATH folder)
  cmake_path(GET module STEM LAST_ONLY name)
  string(REGEX REPLACE "^rowlock-?" "" component "${name}")
  if(component STREQUAL "")
    set(component core)
  endif()
  set(source "${CMAKE_CURRENT_LIST_DIR}/pkg_config/${component}.cpp")
  if(component STREQUAL "asio")
    list(APPEND name rowlock-testing)
    set(source "${CMAKE_CURRENT_LIST_DIR}/asio/main.cpp")
  endif()

  function(flags_of out)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${folder}" pkg-config ${ARGN} ${name}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(found UNIX_COMMAND "${found}")
    set(${out} ${found} PARENT_SCOPE)
  endfunction()

  flags_of(cflags --cflags)
  execute_process(
    COMMAND "${COMPILER}" -std=c++20 ${flags} ${cflags} -c "${source}" -o "${BUILD}/${component}.o"
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(kind IN ITEMS "" --static)
    flags_of(libs ${kind} --libs)
    message(STATUS "${name} ${kind}: ${libs}")
    set(program "${BUILD}/${component}${kind}")
    execute_process(
      COMMAND "${COMPILER}" ${flags} "${BUILD}/${component}.o" ${libs} -o "${program}" COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${program}" WORKING_DIRECTORY "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
list(LENGTH modules count)
if(count LESS 7)
  message(FATAL_ERROR "there are only: ${modules}")
endif()
