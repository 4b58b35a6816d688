// Decompositions are of matrices, eigenvalues of square ones; least squares need as many equations
// as unknowns; none has a derivative.
// expect: castnet: qr takes a matrix, or batches of them
// expect: castnet: svd takes a matrix, or batches of them
// expect: castnet: eigh takes a square matrix, a symmetric one
// expect: castnet: lstsq needs a matrix with at least as many rows as columns
// expect: castnet: kron takes two tensors of the same number of axes
// expect: castnet: corrcoef takes a matrix: variables as rows
// expect: is_written<.*"cumprod<axis>\(x\)"
// expect: function_takes_symbols<.*"svd"
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr auto largest_singular_value = [](auto x) { return cn::max(cn::svd(x)); };

int main() {
    cn::tensor<float, cn::shape<3, 2>> tall;
    cn::tensor<float, cn::shape<3>> vector;
    auto const factors = cn::qr(vector);
    auto const singular = cn::svd(vector);
    auto const values = cn::eigh(tall);
    auto const solution = cn::lstsq(cn::transpose(tall), vector);
    auto const blocks = cn::kron(tall, vector);
    auto const correlations = cn::corrcoef(vector);
    auto const products = cn::cumprod(tall, 0);
    auto const slopes = cn::grad(largest_singular_value, tall);
}
