// Expressions of tensors in a project that treats warnings as errors: compiled with optimization,
// since compilers warn of loops there, too. Some have no vectors on the usual targets.
#include <castnet/castnet.hpp>

namespace cn = castnet;

template <class T>
using matrix = cn::tensor<T, cn::shape<70, 70>>;

void sums(matrix<float>& a, matrix<float> const& b) {
    a = b * 2 + a + cn::transpose(b);
}

void mixed_types(matrix<float>& a, matrix<int> const& b) {
    a = b * 2 + a;
}

void whole_numbers(matrix<int>& a, matrix<int> const& b) {
    a = b / 3 + cn::remainder(b, a);
}

void choices(matrix<float>& a, matrix<bool> const& b) {
    a = cn::where(b, cn::floor(a), 0.F);
}

template <class T>
void functions(matrix<T>& a, matrix<T> const& b) {
    a = cn::pow(b, a);
    a = cn::sin(b) + cn::tan(a);
    a = cn::exp(b) + cn::log(a);
    a = cn::erf(b) + cn::tanh(a);
    a = cn::atan2(b, a) + cn::sinh(b) + cn::cbrt(b);
    a = cn::gelu(b) / cn::sqrt(a);
    a = cn::lgamma(b) + cn::digamma(a);
    a = cn::cos(matrix<T>::arange());
    a = cn::matmul(a, cn::softmax(b) + 1);
}

template void functions(matrix<float>&, matrix<float> const&);
template void functions(matrix<double>&, matrix<double> const&);
