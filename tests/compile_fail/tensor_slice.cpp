// A slice stays within its axis.
// expect: castnet: the slice is empty or reaches beyond the axis
// expect: has_range<.*shape<2, ?3>, 1(UL)?, 1(UL)?, 4
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<float, shape<2, 3>> a;
    auto b = slice<1, 1, 4>(a);
}
