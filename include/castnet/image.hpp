// Image files as data sets, and images as files: JPEG and PNG. To be included besides castnet.hpp; needs castnet::image,
// with libjpeg and libpng.
#pragma once

#include <castnet/data.hpp>
#include <castnet/image/file.hpp>
#include <castnet/image/folder.hpp>
#include <castnet/image/grid.hpp>
#include <castnet/image/resize.hpp>
