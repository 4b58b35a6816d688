// Each axis has its braces.
// expect: castnet: the elements of a tensor stand in braces, one pair for each axis
// expect: are_in_nested_braces<.*shape<2, ?3>
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> const a{1, 2, 3, 4, 5, 6};
}
