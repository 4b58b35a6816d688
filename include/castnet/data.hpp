// Data sets made of data sets: parts, samples, maps, encodings, augmentation, and workers that read
// ahead. To be included besides castnet.hpp.
#pragma once

#include <castnet/data/augment.hpp>
#include <castnet/data/cifar.hpp>
#include <castnet/data/label_encoding.hpp>
#include <castnet/data/map.hpp>
#include <castnet/data/prefetch.hpp>
#include <castnet/data/subset.hpp>
#include <castnet/data/transforms.hpp>
