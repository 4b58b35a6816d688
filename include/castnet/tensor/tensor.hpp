// Tensors for users: owning arrays and views with NumPy-like arithmetic, shapes checked while
// compiling. Element-wise functions are those of expr/callables.hpp.
#pragma once

#include <castnet/expr/expr.hpp>
#include <castnet/tensor/broadcast.hpp>
#include <castnet/tensor/closeness.hpp>
#include <castnet/tensor/cumulative.hpp>
#include <castnet/tensor/decompositions.hpp>
#include <castnet/tensor/einsum.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/histogram.hpp>
#include <castnet/tensor/join.hpp>
#include <castnet/tensor/linear_algebra.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/mistakes.hpp>
#include <castnet/tensor/nan_reductions.hpp>
#include <castnet/tensor/negative_axes.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/quantile.hpp>
#include <castnet/tensor/random.hpp>
#include <castnet/tensor/rearrange.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/statistics.hpp>
#include <castnet/tensor/strides.hpp>
#include <castnet/tensor/tensor_base.hpp>
#include <castnet/tensor/to_string.hpp>
#include <castnet/tensor/triangles.hpp>
#include <castnet/tensor/vector_products.hpp>
#include <castnet/tensor/view.hpp>
#include <castnet/tensor/views.hpp>
