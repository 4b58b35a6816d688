// Image files, JPEG and PNG: data sets of them, and images as files. To be included besides
// castnet.hpp; needs castnet::image, with libjpeg and libpng.
#pragma once

#include <castnet/data.hpp>
#include <castnet/image/file.hpp>
#include <castnet/image/folder.hpp>
#include <castnet/image/grid.hpp>
#include <castnet/image/resize.hpp>
