# Configures a project from nothing; with RUN also builds it and runs that program of it, with TESTS
# its tests.
file(REMOVE_RECURSE "${BUILD}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DNEXT_MINOR=${NEXT_MINOR}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
    # A third of the time; and more sources at once than ours are made for.
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16
  COMMAND_ERROR_IS_FATAL ANY)
if(RUN OR TESTS)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
endif()
if(RUN)
  execute_process(COMMAND "${BUILD}/${RUN}" COMMAND_ERROR_IS_FATAL ANY)
endif()
if(TESTS)
  execute_process(
    COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --output-on-failure --no-tests=error
    COMMAND_ERROR_IS_FATAL ANY)
endif()
