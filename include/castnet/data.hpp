// Data sets made of data sets: parts, samples, maps, encodings, weights, augmentation, mixtures,
// caches, and workers that read ahead; and data sets of functions. To be included besides
// castnet.hpp.
#pragma once

#include <castnet/data/augment.hpp>
#include <castnet/data/cache.hpp>
#include <castnet/data/cifar.hpp>
#include <castnet/data/crop.hpp>
#include <castnet/data/generated.hpp>
#include <castnet/data/grouped_by_length.hpp>
#include <castnet/data/label_encoding.hpp>
#include <castnet/data/labels.hpp>
#include <castnet/data/map.hpp>
#include <castnet/data/mixing.hpp>
#include <castnet/data/pad_sequences.hpp>
#include <castnet/data/prefetch.hpp>
#include <castnet/data/sampling.hpp>
#include <castnet/data/standardize_columns.hpp>
#include <castnet/data/statistics.hpp>
#include <castnet/data/stream.hpp>
#include <castnet/data/subset.hpp>
#include <castnet/data/transforms.hpp>
#include <castnet/data/weights.hpp>
