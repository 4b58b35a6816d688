// Numbers are sorted by keys of at most 64 bits.
// expect: castnet: numbers of more than 64 bits, such as long double, cannot be sorted
#include <castnet/tensor/tensor.hpp>

using namespace castnet;

int main() {
    tensor<long double, shape<3>> x;
    auto y = castnet::sort(x);
}
