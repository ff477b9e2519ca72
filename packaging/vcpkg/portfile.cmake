# The archive of the source lies beside this file: script/package vcpkg puts it there.
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${CMAKE_CURRENT_LIST_DIR}/rowlock-@VERSION@.tar.gz")

vcpkg_check_features(OUT_FEATURE_OPTIONS features
  FEATURES
    asio ROWLOCK_ASIO
    postgres ROWLOCK_POSTGRES
    prometheus ROWLOCK_PROMETHEUS
    sqlite ROWLOCK_SQLITE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    -DROWLOCK_SOCI=OFF  # needs MariaDB's client, and the port of SOCI has that of MySQL
    -DROWLOCK_CLI=OFF
    -DROWLOCK_WEB=OFF
    -DROWLOCK_TESTS=OFF
    -DROWLOCK_BENCH=OFF
    -DROWLOCK_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowlock)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
