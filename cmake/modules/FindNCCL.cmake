# NCCL: the target NCCL::NCCL. NCCL_ROOT says where it is if it is in none of the usual places.
include(${CMAKE_CURRENT_LIST_DIR}/castnet_find_nvidia.cmake)
castnet_find_nvidia(NCCL HEADER nccl.h LIBRARY nccl WHEEL nccl)
castnet_read_version(NCCL_VERSION ${NCCL_INCLUDE_DIR}/nccl.h NCCL_MAJOR NCCL_MINOR NCCL_PATCH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR
                                  VERSION_VAR NCCL_VERSION)
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
    add_library(NCCL::NCCL UNKNOWN IMPORTED)
    set_target_properties(NCCL::NCCL PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${NCCL_INCLUDE_DIR})
endif()
