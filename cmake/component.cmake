# castnet_component(<name> FIND "<arguments of find_package>"… LINK <targets> [DEFINE <macros>]
#                   [PKG_CONFIG_REQUIRES <packages>] [PKG_CONFIG_FLAGS <flags>] [HINT <sentence>])
#
# Declares the target castnet::<name>: castnet::castnet with optional packages. In this build it
# exists where CASTNET_COMPONENTS has it and the packages are found; installed it always is, and
# looks for them when asked for by find_package(castnet COMPONENTS <name>). Where
# pkg-config knows the packages, or flags of the compiler take their place, there is
# castnet-<name>.pc, too. HINT says what to install and how to show where it is.
function(castnet_component name)
    cmake_parse_arguments(
        PARSE_ARGV 1 arg "" "HINT" "FIND;LINK;DEFINE;PKG_CONFIG_REQUIRES;PKG_CONFIG_FLAGS")

    add_library(castnet_${name} INTERFACE)
    set_target_properties(castnet_${name} PROPERTIES EXPORT_NAME ${name})
    target_link_libraries(castnet_${name} INTERFACE castnet ${arg_LINK})
    target_compile_definitions(castnet_${name} INTERFACE ${arg_DEFINE})

    if(name IN_LIST CASTNET_COMPONENTS)
        set(missing "")
        list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake/modules)
        foreach(find IN LISTS arg_FIND)
            separate_arguments(find UNIX_COMMAND "${find}")
            list(GET find 0 package)
            find_package(${find} QUIET)
            if(NOT ${package}_FOUND)
                list(APPEND missing ${package})
            endif()
        endforeach()
        # Who has castnet below their project see the packages' targets, too.
        get_property(found DIRECTORY PROPERTY IMPORTED_TARGETS)
        foreach(target IN LISTS found)
            set_property(TARGET ${target} PROPERTY IMPORTED_GLOBAL TRUE)
        endforeach()
        if(NOT missing)
            add_library(castnet::${name} ALIAS castnet_${name})
        else()
            list(JOIN missing ", " missing)
            message(STATUS "castnet: no castnet::${name} in this build: ${missing} not found. "
                           "${arg_HINT}")
        endif()
    endif()

    set(find "${arg_FIND}")
    set(hint "${arg_HINT}")
    configure_file(cmake/castnet-component.cmake.in castnet-${name}.cmake @ONLY)
    set_property(GLOBAL APPEND PROPERTY castnet_components ${name})

    if(arg_PKG_CONFIG_REQUIRES OR arg_PKG_CONFIG_FLAGS)
        list(JOIN arg_PKG_CONFIG_REQUIRES " " requires)
        list(JOIN arg_PKG_CONFIG_FLAGS " " flags)
        list(TRANSFORM arg_DEFINE PREPEND -D)
        list(JOIN arg_DEFINE " " defines)
        configure_file(cmake/castnet-component.pc.in castnet-${name}.pc @ONLY)
    endif()
endfunction()
