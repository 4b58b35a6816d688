# vcpkg port of castnet, for the source tree that it lies in. A feature brings the packages that a
# component needs; the components themselves are always installed.
set(VCPKG_BUILD_TYPE release) # headers only
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DCASTNET_BUILD_TESTS=OFF
        -DCASTNET_BUILD_EXAMPLES=OFF
        -DCASTNET_BUILD_BENCH=OFF
        -DCASTNET_COMPONENTS=)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/castnet)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/castnet")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
