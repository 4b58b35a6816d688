// The axis of sorting and of sums so far stands before the tensor, counts from the first one, and
// is there; symbols have sums along the last one only.
// expect: is_written<.*"sort<axis>\(x\)"
// expect: is_written<.*"argsort<axis>\(x\)"
// expect: is_written<.*"cumsum<axis>\(x\)"
// expect: castnet: axes count from the first
// expect: castnet: the tensor has no such axis
// expect: works_along_last_axis<.*"cumsum\(transpose\(x\)\)"
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr auto sums_of_columns = [](auto x) { return cn::sum(cn::cumsum<0>(x)); };

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const sorted = cn::sort(a, 0);
    auto const places = cn::argsort(a, 1);
    auto const sums = cn::cumsum(a, 0);
    auto const counted = cn::cumsum<-1>(a);
    auto const beyond = cn::cumsum<2>(a);
    auto const slopes = cn::grad(sums_of_columns, a);
}
