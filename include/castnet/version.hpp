// Version of the library, for #if. CMake reads it here.
#pragma once

#include <castnet/core/language.hpp>

#define CASTNET_VERSION_MAJOR 0
#define CASTNET_VERSION_MINOR 1
#define CASTNET_VERSION_PATCH 0
