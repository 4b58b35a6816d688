# What builds castnet's own programs; a project that uses castnet sees none of it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

option(CASTNET_WERROR "Fail castnet's own builds where a compiler warns" OFF)
set(castnet_ptxas -warn-spills) # of a kernel that spills registers
if(CASTNET_WERROR)
    string(APPEND castnet_ptxas ",-Werror")
endif()
# (g++ compiles up to a third faster where it need not collect its garbage, which it does at twice
# this size: docs/compile_times.md. Each core has its share of the memory.)
set(castnet_heap "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # in MiB
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    math(EXPR heap "${memory} * 1024 / ${cores} / 3")
    if(heap GREATER 4000000)
        set(heap 4000000)
    endif()
    set(castnet_heap --param=ggc-min-heapsize=${heap})
endif()
string(JOIN "," castnet_host_options -Wall -Wextra ${castnet_heap}) # of nvcc's host compiler
add_library(castnet_dev INTERFACE)
target_compile_options(
    castnet_dev INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion ${castnet_heap}>
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler ${castnet_host_options} -Xptxas ${castnet_ptxas}>")
if(CASTNET_WERROR)
    target_compile_options(castnet_dev INTERFACE
                           $<$<COMPILE_LANGUAGE:CXX>:-Werror>
                           "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>")
endif()

add_library(castnet_native INTERFACE)
if(CASTNET_NATIVE)
    target_compile_options(castnet_native INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

# CMAKE_CUDA_COMPILER says whether there are programs in CUDA C++.
if(TARGET castnet::cuda)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
            set(CMAKE_CUDA_ARCHITECTURES 90)
        endif()
        enable_language(CUDA)
    endif()
endif()

if(CASTNET_BUILD_TESTS)
    find_package(doctest QUIET)
    set(CASTNET_HEADERS "" CACHE PATH "Folder with doctest/doctest.h, where it is not installed")
    if(NOT doctest_FOUND AND EXISTS ${CASTNET_HEADERS}/doctest/doctest.h)
        add_library(doctest::doctest INTERFACE IMPORTED)
        target_include_directories(doctest::doctest SYSTEM INTERFACE ${CASTNET_HEADERS})
        set(doctest_FOUND TRUE)
    endif()
    if(doctest_FOUND)
        enable_testing()
        add_subdirectory(tests)
    else()
        message(STATUS "castnet: tests skipped: doctest was not found (Debian: doctest-dev)")
    endif()
endif()

if(CASTNET_BUILD_EXAMPLES)
    add_subdirectory(examples)
endif()

if(CASTNET_BUILD_BENCH)
    if(CMAKE_CUDA_COMPILER)
        add_subdirectory(bench/gpu)
    endif()
    find_package(benchmark QUIET)
    if(benchmark_FOUND)
        add_subdirectory(bench)
    else()
        message(STATUS "castnet: benchmarks skipped: Google Benchmark was not found "
                       "(Debian: libbenchmark-dev)")
    endif()
endif()
