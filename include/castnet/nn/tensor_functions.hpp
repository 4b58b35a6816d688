// Functions of tensors (castnet/tensor/) for symbols, under the same names, so that a function that
// is written once computes with tensors and is differentiated (train/grad.hpp). Images and volumes
// are only reduced.
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/axis_changes.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/clip.hpp>
#include <castnet/nn/cumsum.hpp>
#include <castnet/nn/diagonal.hpp>
#include <castnet/nn/largest.hpp>
#include <castnet/nn/linear_algebra.hpp>
#include <castnet/nn/prod.hpp>
#include <castnet/nn/repetition.hpp>
#include <castnet/nn/vector_products.hpp>
