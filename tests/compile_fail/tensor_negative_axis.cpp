// Axes that count from the last one, as in NumPy.
// expect: castnet: axes count from the first, which is 0, not from the last
// expect: axes_count_from_first<-1>
// expect: axes_count_from_first<0, -1>
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const rows = cn::sum<-1>(a);
    auto const most = cn::max<-1>(a, cn::keepdims);
    auto const wide = cn::concatenate<-1>(a, a);
    auto const turned = cn::transpose<0, -1>(a);
}
