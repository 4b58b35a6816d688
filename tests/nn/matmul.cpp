// Products of two activations.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::random_values, check::values, cn::input, cn::row_major_shape,
    cn::shape;

namespace {

struct product {
    constexpr auto operator()(auto a, auto b) const { return matmul(a, b); }
};
struct product_transposed {
    constexpr auto operator()(auto a, auto b) const { return matmul_transposed(a, b); }
};
struct of_heads { // three axes that are no image
    constexpr auto operator()(auto a, auto b) const {
        auto const x = a | cn::reshape_to<row_major_shape<2, 3, 4>>;
        return matmul(matmul_transposed(x, x), b | cn::reshape_to<row_major_shape<2, 3, 2>>);
    }
};
struct with_itself { // a square: no weight, so nothing is transposed
    constexpr auto operator()(auto a) const { return matmul(a, a) | cn::softmax; }
};
struct with_parameter { // what all samples share
    constexpr auto operator()(auto a) const {
        return matmul(a, cn::new_parameter<shape<3, 2>>(*a.g, "b", {.start = cn::ones}));
    }
};

// Every way in which the matrices of a batch of two may lie: (3 x 4) times (4 x 5).
template <cn::ir::product_form Form>
struct formed {
    static constexpr bool beside = Form.beside_c;
    constexpr auto operator()(auto a, auto b) const {
        using result = std::conditional_t<beside, shape<3, 2 * 5>, row_major_shape<2, 3, 5>>;
        return cn::detail::batch_matmul<result>(a, b, Form);
    }
};

// The place of an element of a matrix of the batch in its array.
std::size_t place(std::size_t k, std::size_t i, std::size_t j, std::size_t rows,
                  std::size_t columns, bool transposed, bool beside) {
    if (transposed) {
        std::swap(i, j);
        std::swap(rows, columns);
    }
    return beside ? (i * 2 + k) * columns + j : (k * rows + i) * columns + j;
}

template <cn::ir::product_form F>
void against_loops() {
    constexpr std::size_t a0 = F.transposed_a ? 4 : 3, a1 = 7 - a0;
    constexpr std::size_t b0 = F.transposed_b ? 5 : 4, b1 = 9 - b0;
    using net =
        cn::network<formed<F>{}, input<(F.beside_a ? a0 : 2 * a0), (F.beside_a ? 2 * a1 : a1)>,
                    input<(F.beside_b ? b0 : 2 * b0), (F.beside_b ? 2 * b1 : b1)>>;
    layer_run r = layer_run::of<net, true, 2>();
    values const a = random_values(48, 1), b = random_values(80, 2);
    r.set_input(a, 0);
    r.set_input(b, 1);
    r.run();
    values expected(60);
    for (std::size_t n = 0; n < 2 * 2 * 3 * 5; ++n) {
        std::size_t const j = n % 5, i = n / 5 % 3, k = n / 15 % 2, sample = n / 30;
        double& sum = expected[sample * 30 + place(k, i, j, 3, 5, false, F.beside_c)];
        for (std::size_t d = 0; d < 4; ++d) {
            sum += a[sample * 24 + place(k, i, d, 3, 4, F.transposed_a, F.beside_a)] *
                   b[sample * 40 + place(k, d, j, 4, 5, F.transposed_b, F.beside_b)];
        }
    }
    check::close("product", r.output(), expected, 1e-14);
    check::against_finite_differences(std::move(r));
}

template <int... Bits>
void against_loops_of_all_forms(std::integer_sequence<int, Bits...>) {
    (..., against_loops<cn::ir::product_form::unpacked(2 << 5 | Bits)>());
}

} // namespace

TEST_CASE("the product of the last two axes") {
    layer_run r = layer_run::of<cn::network<product{}, input<2, 3>, input<3, 2>>, true, 1>();
    r.set_input({1, 2, 3, 4, 5, 6}, 0);
    r.set_input({1, 0, 0, 1, 10, 100}, 1);
    r.set_grad_output({1, 0, 0, 1});
    r.run();
    CHECK(r.output() == values{31, 302, 64, 605});
    CHECK(r.grad_input(0) == values{1, 0, 10, 0, 1, 100});
    CHECK(r.grad_input(1) == values{1, 4, 2, 5, 3, 6});
}

TEST_CASE("gradients of products") {
    using check::against_finite_differences;
    against_finite_differences(
        layer_run::of<cn::network<product_transposed{}, input<2, 3>, input<4, 3>>, true, 3>());
    against_finite_differences(
        layer_run::of<cn::network<of_heads{}, input<6, 4>, input<6, 2>>, true, 2>());
    against_finite_differences(check::run_of<with_itself{}, shape<4, 4>, true, 2>());
    against_finite_differences(check::run_of<with_parameter{}, shape<4, 3>, true, 2>());
}

TEST_CASE("matrices of a batch below or beside one another, transposed or not") {
    against_loops_of_all_forms(std::make_integer_sequence<int, 32>{});
}
