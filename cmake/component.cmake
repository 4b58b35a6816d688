# castnet_component(<name> FIND <arguments of find_package> LINK <targets> [DEFINE <macros>])
#
# Declares the target castnet::<name>: castnet::castnet with an optional package. In this build it
# exists where the package is found; installed it always is, and looks for the package when asked
# for by find_package(castnet COMPONENTS <name>).
function(castnet_component name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FIND;LINK;DEFINE")
    list(GET arg_FIND 0 package)

    add_library(castnet_${name} INTERFACE)
    set_target_properties(castnet_${name} PROPERTIES EXPORT_NAME ${name})
    target_link_libraries(castnet_${name} INTERFACE castnet ${arg_LINK})
    target_compile_definitions(castnet_${name} INTERFACE ${arg_DEFINE})

    find_package(${arg_FIND} QUIET GLOBAL)
    if(${package}_FOUND)
        add_library(castnet::${name} ALIAS castnet_${name})
    elseif(PROJECT_IS_TOP_LEVEL)
        message(STATUS "castnet: no castnet::${name} in this build: ${package} was not found")
    endif()

    list(JOIN arg_FIND " " find)
    configure_file(cmake/castnet-component.cmake.in castnet-${name}.cmake @ONLY)
    set_property(GLOBAL APPEND PROPERTY castnet_components ${name})
endfunction()
