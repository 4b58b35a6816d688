// Elements are numbered through all axes.
// expect: castnet: from_function<f>: f.i. must be the number of element i
#include <castnet/castnet.hpp>

namespace cn = castnet;

double place(std::size_t row, std::size_t column) {
    return double(row * 3 + column);
}

auto constexpr start = cn::from_function<place>;
