# castnet_find_nvidia(<package> HEADER <file> LIBRARY <name> WHEEL <folder>…)
#
# Looks for a library of NVIDIA where it may be: where <package>_ROOT says (a variable of CMake or
# the environment), in the system, in the CUDA toolkit, and in the wheel of the same name among the
# packages of the python3 that is called first (pip puts it into nvidia/<folder>). Sets
# <package>_INCLUDE_DIR and <package>_LIBRARY.
function(castnet_find_nvidia package)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;LIBRARY" "WHEEL")
    find_package(CUDAToolkit QUIET)
    set(folders ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_DIR})
    find_program(castnet_python NAMES python3 python)
    mark_as_advanced(castnet_python)
    if(castnet_python)
        execute_process(
            COMMAND ${castnet_python} -c "import importlib.util as u, sys
places = u.find_spec('nvidia').submodule_search_locations or []
sys.stdout.write(';'.join(f'{p}/{folder}' for folder in '${arg_WHEEL}'.split(';') for p in places))"
            OUTPUT_VARIABLE wheels ERROR_QUIET)
    endif()
    find_path(${package}_INCLUDE_DIR NAMES ${arg_HEADER} HINTS ${folders} ${wheels}
              PATH_SUFFIXES include)
    # The library beside the header, never one of another version. Wheels have no plain lib….so.
    cmake_path(GET ${package}_INCLUDE_DIR PARENT_PATH beside)
    file(GLOB versions RELATIVE ${beside}/lib ${beside}/lib/lib${arg_LIBRARY}.so.[0-9]*)
    find_library(${package}_LIBRARY NAMES ${arg_LIBRARY} ${versions} NAMES_PER_DIR
                 HINTS ${beside} ${folders} PATH_SUFFIXES lib lib64)
    mark_as_advanced(${package}_INCLUDE_DIR ${package}_LIBRARY)
endfunction()

# castnet_read_version(<variable> <file> <macro>…)
# The numbers that the file defines the macros to be, joined by dots; empty where it does not.
function(castnet_read_version variable file)
    set(numbers "")
    if(EXISTS ${file})
        file(READ ${file} text)
        foreach(macro IN LISTS ARGN)
            if(text MATCHES "#define ${macro} +([0-9]+)")
                list(APPEND numbers ${CMAKE_MATCH_1})
            endif()
        endforeach()
    endif()
    list(JOIN numbers "." numbers)
    set(${variable} "${numbers}" PARENT_SCOPE)
endfunction()
