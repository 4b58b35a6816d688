# Installs the headers, the CMake package and the pkg-config file. Nothing depends on the
# architecture, so everything but the headers goes to share/, and nothing records the prefix.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(castnet_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/castnet)

# One export set each, so that plain find_package(castnet) looks for no other package.
install(TARGETS castnet EXPORT castnet-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/castnet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp)
install(EXPORT castnet-targets NAMESPACE castnet:: DESTINATION ${castnet_package_dir})
get_property(components GLOBAL PROPERTY castnet_components)
foreach(name IN LISTS components)
    install(TARGETS castnet_${name} EXPORT castnet-${name}-targets)
    install(EXPORT castnet-${name}-targets NAMESPACE castnet:: DESTINATION ${castnet_package_dir})
    install(FILES ${PROJECT_BINARY_DIR}/castnet-${name}.cmake DESTINATION ${castnet_package_dir})
endforeach()
install(DIRECTORY cmake/modules DESTINATION ${castnet_package_dir})

list(JOIN components ", " names)
configure_package_config_file(
    cmake/castnet-config.cmake.in castnet-config.cmake INSTALL_DESTINATION ${castnet_package_dir}
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
    castnet-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/castnet-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/castnet-config-version.cmake
        DESTINATION ${castnet_package_dir})

file(RELATIVE_PATH castnet_pc_to_include ${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig
     ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/castnet.pc.in castnet.pc @ONLY)
set(castnet_pkg_config_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/castnet.pc DESTINATION ${castnet_pkg_config_dir})
foreach(name IN LISTS components)
    install(FILES ${PROJECT_BINARY_DIR}/castnet-${name}.pc DESTINATION ${castnet_pkg_config_dir}
            OPTIONAL)
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
