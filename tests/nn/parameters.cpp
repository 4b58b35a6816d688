// Parameters of every role and rank: what is set in logical order is got back, and acts on samples
// as it does in PyTorch; against plain loops in logical order.
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::close, check::layer_run, check::random_values, check::values, cn::shape;

namespace {

// x * w + 3 * w with a parameter of another shape than x.
template <class Parameter, cn::role Role>
struct applied {
    constexpr auto operator()(auto x) const {
        auto const w = cn::new_parameter<Parameter>(*x.g, "w", {Role, cn::ones});
        return x * w + 3 * w;
    }
};

struct extents_of {
    std::size_t of[4]{1, 1, 1, 1}; // from the last axis to the first
    template <std::size_t... D>
    explicit extents_of(shape<D...>) {
        std::size_t const d[] = {D...};
        for (std::size_t i = 0; i < sizeof...(D); ++i) {
            of[i] = d[sizeof...(D) - 1 - i];
        }
    }
};

// NumPy's broadcasting, in logical order.
values expected(values const& x, values const& w, extents_of const& to, extents_of const& from) {
    values y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t rest = i, place = 0, stride = 1;
        for (int axis = 0; axis < 4; ++axis) {
            std::size_t const at = rest % to.of[axis];
            rest /= to.of[axis];
            place += from.of[axis] == 1 ? 0 : at * stride;
            stride *= from.of[axis];
        }
        y.push_back(x[i] * w[place] + 3 * w[place]);
    }
    return y;
}

template <class X, class Parameter, cn::role Role = cn::role::vector>
void acts_as_in_logical_order() {
    layer_run r = check::run_of<applied<Parameter, Role>{}, X, true, 3>();
    values const w = random_values(Parameter::count, 1), x = random_values(3 * X::count, 2);
    r.set("0.w", w);
    CHECK(r.parameter("0.w") == w);
    r.set_input(x);
    r.run();
    close("output", r.output(), expected(x, w, extents_of{X{}}, extents_of{Parameter{}}), 1e-14);
    if constexpr (Role == cn::role::vector) {
        check::against_finite_differences(std::move(r));
    }
}

// What reads a parameter in another way than element by element with x.
struct summarized {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        auto const w = cn::new_parameter<S>(*x.g, "w", {});
        return x * cn::sum_channels(w) + cn::max(w) * cn::mean(cn::square(w));
    }
};
struct reshaped_image {
    constexpr auto operator()(auto x) const {
        return x + cn::reshape<24>(cn::new_parameter<shape<2, 3, 4>>(*x.g, "w", {}));
    }
};
struct reshaped_vector {
    constexpr auto operator()(auto x) const {
        return x + cn::reshape<2, 3, 4>(cn::new_parameter<shape<24>>(*x.g, "w", {}));
    }
};
struct joined { // as a token of one's own is put before a sequence
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return cn::concat(cn::new_parameter<S>(*x.g, "w", {}), x);
    }
};
struct convolved { // an image of one's own
    constexpr auto operator()(auto x) const {
        return x + cn::new_parameter<shape<2, 3, 3>>(*x.g, "w", {}) *
                       (cn::new_parameter<shape<1, 4, 4>>(*x.g, "image", {}) | cn::conv2d<2, 2>);
    }
};

template <auto Layer, class X>
void adds_in_logical_order() {
    layer_run r = check::run_of<Layer, X, true, 2>();
    values const w = random_values(X::count, 1), x = random_values(2 * X::count, 2);
    r.set("0.w", w);
    r.set_input(x);
    r.run();
    values sum = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum[i] += w[i % w.size()];
    }
    close("output", r.output(), sum, 1e-14);
    check::against_finite_differences(std::move(r));
}

// What the trace of a network finds wrong.
template <class Network>
cn::mistake mistake_of() {
    cn::ir::graph g{true};
    Network::trace(g);
    return g.wrong;
}

template <class Parameter, cn::role Role>
struct asked {
    constexpr auto operator()(auto x) const {
        cn::new_parameter<Parameter>(*x.g, "w", {Role});
        return x;
    }
};
struct product_of_activations {
    constexpr auto operator()(auto x) const { return matmul(x, x); }
};
struct sum_with_a_weight {
    constexpr auto operator()(auto x) const {
        return x + cn::new_parameter<shape<3, 3>>(*x.g, "w", {cn::role::dense_weight});
    }
};

} // namespace

TEST_CASE("a parameter combines with samples as its logical order says") {
    acts_as_in_logical_order<shape<5>, shape<5>>();
    acts_as_in_logical_order<shape<5>, shape<1>>();
    acts_as_in_logical_order<shape<5>, shape<>>();
    acts_as_in_logical_order<shape<3, 4>, shape<3, 4>>();
    acts_as_in_logical_order<shape<3, 4>, shape<3, 1>>();
    acts_as_in_logical_order<shape<3, 4>, shape<4>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<2, 3, 4>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<1, 3, 4>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<2, 1, 1>>();
    acts_as_in_logical_order<shape<2, 3, 4, 5>, shape<2, 3, 4, 5>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<2, 3, 4>, cn::role::statistic>();
}

TEST_CASE("a parameter may be reduced, reshaped, joined and convolved") {
    check::against_finite_differences(check::run_of<summarized{}, shape<5>, true, 2>());
    check::against_finite_differences(check::run_of<summarized{}, shape<3, 4>, true, 2>());
    check::against_finite_differences(check::run_of<summarized{}, shape<2, 3, 4>, true, 2>());
    adds_in_logical_order<reshaped_image{}, shape<24>>();
    adds_in_logical_order<reshaped_vector{}, shape<2, 3, 4>>();
    check::against_finite_differences(check::run_of<joined{}, shape<2, 3>, true, 2>());
    check::against_finite_differences(check::run_of<convolved{}, shape<2, 3, 3>, true, 2>());
}

TEST_CASE("weights are for their product alone") {
    using cn::mistake;
    using cn::role;
    using image = cn::sequential<cn::input<3, 3>, product_of_activations{}>;
    CHECK(mistake_of<image>() == mistake::product_of_activations);
    CHECK(mistake_of<cn::sequential<cn::input<3, 3>, sum_with_a_weight{}>>() ==
          mistake::weight_as_value);
    CHECK(mistake_of<cn::sequential<cn::input<3>, asked<shape<2, 3, 4>, role::conv_weight>{}>>() ==
          mistake::axes_of_conv_weight);
    CHECK(mistake_of<cn::sequential<cn::input<3>, asked<shape<3>, role::dense_weight>{}>>() ==
          mistake::axes_of_dense_weight);
    CHECK(mistake_of<cn::sequential<cn::input<3, 3>, cn::dense<4>>>() == mistake::none);
}

TEST_CASE("what is not told how to start is zero, unless it is a weight") {
    cn::ir::graph g{true};
    cn::new_parameter<shape<3>>(g, "bias", {});
    cn::new_parameter<shape<2, 3>>(g, "weight", {cn::role::dense_weight});
    CHECK(g.parameters[0].start.kind == cn::initial::zeros);
    CHECK(g.parameters[1].start.kind == cn::initial::glorot_uniform);
}
