// Element-wise functions of operands that have one element on some axes, beside tensors.
#include <castnet/nn/network.hpp>
#include <castnet/nn/tensor_functions.hpp>
#include <castnet/tensor/tensor.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::values, cn::input, cn::row_major_shape, cn::shape;

namespace {

// A function of both that is not symmetric.
constexpr auto combined = [](auto const& a, auto const& b) { return cn::sin(a) * b - b; };

template <class A, class B>
struct of_shapes {
    constexpr auto operator()(auto a, auto b) const {
        return combined(a | cn::reshape_to<A>, b | cn::reshape_to<B>);
    }
};

template <class S>
cn::tensor<double, S> sample(values const& x, std::size_t number) {
    cn::tensor<double, S> t;
    std::copy_n(x.begin() + std::ptrdiff_t(number * S::count), S::count, t.begin());
    return t;
}

template <class A, class B>
void combines() {
    constexpr std::size_t batch = 3;
    auto r = check::layer_run::of<cn::network<of_shapes<A, B>{}, input<A::count>, input<B::count>>,
                                  true, batch>();
    values const a = check::random_values(batch * A::count, 1);
    values const b = check::random_values(batch * B::count, 2);
    r.set_input(a, 0);
    r.set_input(b, 1);
    r.set_grad_output(check::random_values(r.grad_output().size(), 3));
    r.run();
    values expected;
    for (std::size_t i = 0; i < batch; ++i) {
        auto const of_sample = cn::evaluate(combined(sample<A>(a, i), sample<B>(b, i)));
        expected.insert(expected.end(), of_sample.begin(), of_sample.end());
    }
    check::close("output", r.output(), expected, 1e-14);
    check::against_finite_differences(
        check::layer_run::of<cn::network<of_shapes<A, B>{}, input<A::count>, input<B::count>>, true,
                             batch>());
}

} // namespace

TEST_CASE("an operand is repeated along any axes") {
    combines<row_major_shape<2, 3, 4>, shape<3, 4>>();
    combines<row_major_shape<2, 3, 4>, row_major_shape<2, 1, 4>>();
    combines<row_major_shape<2, 1, 4>, row_major_shape<1, 3, 4>>();
    combines<row_major_shape<2, 3, 1>, row_major_shape<1, 3, 4>>();
    combines<row_major_shape<2, 1, 1>, row_major_shape<1, 3, 4>>();
    combines<shape<2, 1, 3, 1, 2>, shape<3, 1, 2, 1>>();
}

TEST_CASE("an image is repeated along its height or its width") {
    combines<shape<2, 3, 4>, shape<2, 1, 4>>();
    combines<shape<2, 3, 4>, shape<1, 3, 1>>();
    combines<shape<2, 3, 1>, shape<1, 1, 4>>();
}

namespace {

struct with_parameter { // one for all samples, of rows
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"bias"}};
        return (x | cn::reshape_to<row_major_shape<2, 3, 4>>)+cn::new_parameter<shape<3, 4>>(
            *x.g, "weight", {});
    }
};

} // namespace

TEST_CASE("a parameter is repeated for all samples, and its gradient is their sum") {
    auto r = check::run_of<with_parameter{}, shape<6, 4>, true, 2>();
    values const x = check::random_values(48, 1), w = check::random_values(12, 2);
    values const gradient = check::random_values(48, 3);
    r.set_input(x);
    r.set("0.weight", w);
    r.set_grad_output(gradient);
    r.run();
    values expected = x, sums(12);
    for (std::size_t i = 0; i < 48; ++i) {
        expected[i] += w[i % 12];
        sums[i % 12] += gradient[i];
    }
    check::close("output", r.output(), expected, 1e-15);
    check::close("gradient", r.gradient("0.weight"), sums, 1e-14);
}
