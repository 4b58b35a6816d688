# cmake -D SOURCE=<castnet> -D FOLDER=<to work in> -D VERSION=<castnet's> -P portfile.cmake
# Test of the vcpkg port without vcpkg: stand-ins for those of its functions that the port calls check
# what they are given.
set(CURRENT_PORT_DIR ${SOURCE}/packaging/vcpkg/castnet)
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)
file(REMOVE_RECURSE ${FOLDER})

function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
    execute_process(
        COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/build
                -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS}
        ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    if(said)
        message(FATAL_ERROR "an option that castnet does not know, or else: ${said}")
    endif()
endfunction()

function(vcpkg_cmake_install)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${FOLDER}/build COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_config_fixup key path)
    file(RENAME ${CURRENT_PACKAGES_DIR}/${path} ${CURRENT_PACKAGES_DIR}/share/castnet)
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright key file)
    file(COPY_FILE ${file} ${CURRENT_PACKAGES_DIR}/share/castnet/copyright)
endfunction()

include(${CURRENT_PORT_DIR}/portfile.cmake)

function(expect file)
    if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${file})
        message(FATAL_ERROR "the package has no ${file}")
    endif()
endfunction()
expect(include/castnet/castnet.hpp)
expect(share/castnet/castnet-config.cmake)
expect(share/castnet/usage)

file(READ ${CURRENT_PORT_DIR}/vcpkg.json manifest)
string(JSON version GET "${manifest}" version)
if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "vcpkg.json has the version ${version}, and castnet is ${VERSION}")
endif()
string(JSON features LENGTH "${manifest}" features)
math(EXPR last "${features} - 1")
foreach(i RANGE ${last})
    string(JSON feature MEMBER "${manifest}" features ${i})
    expect(share/castnet/castnet-${feature}.cmake)
endforeach()
