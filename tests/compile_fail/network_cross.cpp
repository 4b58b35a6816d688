// Triangles, vector products and differences of symbols need what those of tensors need.
// expect: castnet: tril and triu take matrices in the last two axes
// expect: castnet: cross takes vectors of three elements
// expect: castnet: diff needs an axis of the tensor with two elements
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr auto mistakes = [](auto a, auto two) {
    auto const b = cn::tril(two);
    auto const c = cn::cross(a, two);
    auto const e = cn::diff<1>(two);
    return cn::sum(a);
};

int main() {
    cn::tensor<float, cn::shape<3, 3>> const a;
    cn::tensor<float, cn::shape<2>> const two;
    auto const slope = cn::grad(mistakes, a, two);
}
