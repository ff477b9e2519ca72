# Configures a project from nothing; with RUN also builds it and runs that program of it.
file(REMOVE_RECURSE "${BUILD}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
  COMMAND_ERROR_IS_FATAL ANY)
if(RUN)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${BUILD}/${RUN}" COMMAND_ERROR_IS_FATAL ANY)
endif()
