# Writes one source that includes several: cmake -P unit.cmake <unit> <source>…. What they instantiate
# is compiled once. Their headers come first; then each source has a namespace of its own, in which
# what it defines for itself has no namesakes.
set(unit ${CMAKE_ARGV3})
set(headers "")
set(bodies "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 4 ${last})
    set(source ${CMAKE_ARGV${i}})
    cmake_path(GET source PARENT_PATH folder)
    file(STRINGS ${source} lines REGEX "^# *(include|if|ifdef|ifndef|else|elif|endif)")
    list(JOIN lines "\n" lines)
    string(REPLACE "include \"" "include \"${folder}/" lines "${lines}")
    string(APPEND headers "${lines}\n")
    string(APPEND bodies "namespace source_${i} {\n#include \"${source}\"\n}\n")
endforeach()
file(WRITE ${unit} "${headers}${bodies}")
