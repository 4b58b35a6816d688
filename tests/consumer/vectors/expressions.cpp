// Expressions that are computed in vectors, and not a number at a time.
#include <castnet/tensor/tensor.hpp>

namespace cn = castnet;

template <class T, std::size_t Rows, std::size_t Columns>
struct expressions {
    using matrix = cn::tensor<T, cn::shape<Rows, Columns>>;
    using column = cn::tensor<T, cn::shape<Rows, 1>>;
    using row = cn::tensor<T, cn::shape<Columns>>;

    static void products(matrix& to, matrix const& a, matrix const& b, matrix const& c) {
        to = a * b + c;
    }
    static void of_a_row(matrix& to, matrix const& a, row const& r) { to = a * r - a; }
    static void of_a_column(matrix& to, matrix const& a, column const& c) {
        to = cn::exp(a - c) * c;
    }
    static void of_both(matrix& to, matrix const& a, row const& r, column const& c) {
        to = (a - r) * c;
    }
    static void sigmoids(matrix& to, matrix const& a, column const& c) {
        to = 1 / (1 + cn::exp(c - a));
    }
    static void limits(matrix& to, matrix const& a, row const& r, column const& c) {
        to = cn::minimum(cn::maximum(a, c), r);
    }
    static void choices(matrix& to, matrix const& a, row const& r, column const& c) {
        to = cn::where(a > r, a * c, r - c);
    }
};

template struct expressions<float, 100, 64>;
template struct expressions<float, 100, 100>;
template struct expressions<float, 33, 1001>;
template struct expressions<float, 1000, 1000>;
template struct expressions<double, 100, 100>;
template struct expressions<double, 33, 101>;
