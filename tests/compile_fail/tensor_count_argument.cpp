// Counts and texts that shapes depend on are template arguments.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before
// expect: is_written<.*"largest<count>\(x\)"
// expect: is_written<.*"histogram<bins>\(x, low, high\)"
// expect: is_written<.*"tril<diagonal>\(x\)"
// expect: is_written<.*"diff<axis>\(x\)"
// expect: is_written<.*"einsum<text>\(x\.\.\.\)"
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const top = cn::largest(a, 2);
    auto const counts = cn::histogram(a, 10, 0, 1);
    auto const lower = cn::tril(a, 1);
    auto const steps = cn::diff(a, 1);
    auto const turned = cn::einsum("ij->ji", a);
}
