# cuBLASLt: the target cuBLASLt::cuBLASLt. It comes with the CUDA toolkit; where only the compiler is
# installed, it is looked for as cuDNN is. cuBLASLt_ROOT says where it is if it is in none of the
# usual places.
include(${CMAKE_CURRENT_LIST_DIR}/castnet_find_nvidia.cmake)
castnet_find_nvidia(cuBLASLt HEADER cublasLt.h LIBRARY cublasLt WHEEL cu13 cublas)
castnet_read_version(cuBLASLt_VERSION ${cuBLASLt_INCLUDE_DIR}/cublas_api.h CUBLAS_VER_MAJOR
                     CUBLAS_VER_MINOR CUBLAS_VER_PATCH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuBLASLt REQUIRED_VARS cuBLASLt_LIBRARY cuBLASLt_INCLUDE_DIR
                                  VERSION_VAR cuBLASLt_VERSION)
if(cuBLASLt_FOUND AND NOT TARGET cuBLASLt::cuBLASLt)
    add_library(cuBLASLt::cuBLASLt UNKNOWN IMPORTED)
    set_target_properties(
        cuBLASLt::cuBLASLt PROPERTIES IMPORTED_LOCATION ${cuBLASLt_LIBRARY}
                                      INTERFACE_INCLUDE_DIRECTORIES ${cuBLASLt_INCLUDE_DIR})
endif()
