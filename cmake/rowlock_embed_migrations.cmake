# Compiles the migrations into the library, so that it can apply them without their files.

# Sets `result` to the texts of <path>.up.sql, .down.sql and .verify.sql, each as `, R"(...)"`.
function(rowlock_migration_texts result path)
  set(texts "")
  foreach(part IN ITEMS up down verify)
    set(file "${path}.${part}.sql")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${file} is missing: a migration has an up, a down and a verify file.")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(FIND "${text}" ")rowlock_sql\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${file} contains the end of a raw string literal.")
    endif()
    string(APPEND texts ",\n     R\"rowlock_sql(${text})rowlock_sql\"")
  endforeach()
  set(${result} "${texts}" PARENT_SCOPE)
endfunction()

# rowlock_embed_migrations(<target>
#   POSTGRESQL <NNN_name>...   migrations/postgresql/<NNN_name>.{up,down,verify}.sql, in order
#   SQLITE <NNN_name>...       migrations/sqlite/<NNN_name>.{up,down,verify}.sql, in order
#   MYSQL <NNN_name>...)       migrations/mysql/<NNN_name>.{up,down,verify}.sql, in order
#
# and of each database the option migrations/<database>/history.{up,down,verify}.sql.
#
# Adds a generated source to <target> that defines what src/store/embedded_migrations.hpp declares.
function(rowlock_embed_migrations target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "POSTGRESQL;SQLITE;MYSQL")

  foreach(database IN ITEMS postgresql sqlite mysql)
    string(TOUPPER ${database} list_name)
    set(folder "${PROJECT_SOURCE_DIR}/migrations/${database}")
    set(${database}_rows "")
    list(LENGTH arg_${list_name} ${database}_count)
    set(last 0)

    foreach(migration IN LISTS arg_${list_name})
      if(NOT migration MATCHES "^0*([1-9][0-9]*)_([a-z0-9_]+)$")
        message(FATAL_ERROR "${migration}: name a migration NNN_name, for instance 001_shared_lock.")
      endif()
      set(number ${CMAKE_MATCH_1})
      set(name ${CMAKE_MATCH_2})
      math(EXPR expected "${last} + 1")
      if(NOT number EQUAL expected)
        message(FATAL_ERROR "${migration}: expected number ${expected} here.")
      endif()
      set(last ${number})

      rowlock_migration_texts(texts "${folder}/${migration}")
      string(APPEND ${database}_rows "    {${number}, \"${name}\"${texts}},\n")
    endforeach()

    rowlock_migration_texts(${database}_history "${folder}/history")
  endforeach()

  # A template, not CONTENT: what stands between @ in a migration must stay as it is.
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/embedded_migrations.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded_migrations.cpp.in" "${generated}" @ONLY)
  target_sources(${target} PRIVATE "${generated}")
endfunction()
