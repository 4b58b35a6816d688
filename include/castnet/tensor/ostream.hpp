// Tensors on streams, std::cout << x, which to_string.hpp declares with the text of a tensor.
#pragma once

#include <castnet/tensor/to_string.hpp>

#include <ostream>
