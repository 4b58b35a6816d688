# cuDNN: the target cuDNN::cuDNN. cuDNN_ROOT says where it is if it is in none of the usual places.
include(${CMAKE_CURRENT_LIST_DIR}/castnet_find_nvidia.cmake)
castnet_find_nvidia(cuDNN HEADER cudnn.h LIBRARY cudnn WHEEL cudnn)
castnet_read_version(cuDNN_VERSION ${cuDNN_INCLUDE_DIR}/cudnn_version.h CUDNN_MAJOR CUDNN_MINOR
                     CUDNN_PATCHLEVEL)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDNN REQUIRED_VARS cuDNN_LIBRARY cuDNN_INCLUDE_DIR
                                  VERSION_VAR cuDNN_VERSION)
if(cuDNN_FOUND AND NOT TARGET cuDNN::cuDNN)
    add_library(cuDNN::cuDNN UNKNOWN IMPORTED)
    set_target_properties(cuDNN::cuDNN PROPERTIES IMPORTED_LOCATION ${cuDNN_LIBRARY}
                                                  INTERFACE_INCLUDE_DIRECTORIES ${cuDNN_INCLUDE_DIR})
endif()
