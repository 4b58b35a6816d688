// Systems of linear equations need square matrices and a right side with as many rows.
// expect: castnet: cholesky, inverse and determinant take square matrices in the last two axes
// expect: castnet: solve takes square matrices in the last two axes and a right side with as many
// expect: takes_system<.*shape<3, 3>.*shape<2>
// expect: castnet: a network, loss or metric computes with symbols and plain numbers, not
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::tensor<float, cn::shape<3>> const numbers;

constexpr auto mistakes = [](auto a, auto tall, auto two) {
    auto const b = cn::solve(a, two);
    auto const c = cn::cholesky(tall);
    auto const d = cn::solve(a, numbers);
    return cn::sum(a);
};

int main() {
    cn::tensor<float, cn::shape<3, 3>> const a;
    cn::tensor<float, cn::shape<3, 2>> const tall;
    cn::tensor<float, cn::shape<2>> const two;
    auto const slope = cn::grad(mistakes, a, tall, two);
}
