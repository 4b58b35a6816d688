// The same for a tensor of the program.
// expect: castnet: slice: axes and positions count from the first
// expect: counts_from_first<0, -2, 3>
#include <castnet/castnet.hpp>

#include <vector>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<3>> x;
    auto const last = cn::slice<0, -2, 3>(x);
}
