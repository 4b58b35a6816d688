// A mask selects as many elements as the program will find.
// expect: castnet: x\[i\] takes the number of a place: how many elements a mask selects is not known
// expect: cn::masked_select\(x, mask\)
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> v;
    auto const positive = v[v > 0];
}
