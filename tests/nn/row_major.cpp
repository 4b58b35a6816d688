// Tensors of three and more axes that are no images: layers work along the last axis, as they do on
// a sequence of all rows.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/batch_norm.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::random_values, check::values, cn::row_major_shape, cn::shape;

namespace {

using heads = row_major_shape<2, 3, 4>;

static_assert(std::is_same_v<row_major_shape<3, 4>, shape<3, 4>>);
static_assert(std::is_same_v<cn::with_channels<heads, 5>, row_major_shape<2, 3, 5>>);
static_assert(std::is_same_v<cn::with_channels<shape<2, 3, 4>, 5>, shape<5, 3, 4>>);
static_assert(!cn::is_image<heads> && cn::is_image<shape<2, 3, 4>>);
static_assert(std::is_same_v<decltype(cn::broadcast_of<heads, shape<4>>()), heads>);

// Layer normalisation as a formula.
struct normalized {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        auto const centred = x - cn::sum_channels(x) / 4;
        auto const scale = cn::new_parameter<shape<4>>(*x.g, "scale", {.start = cn::ones});
        return scale * centred / cn::sqrt(cn::sum_channels(cn::square(centred)) / 4 + 1e-5);
    }
};
struct joined_parts {
    constexpr auto operator()(auto x) const {
        return cn::concat(x | cn::slice_channels<1, 2>, cn::sin(x), x | cn::slice_channels<0, 1>);
    }
};
struct summed {
    constexpr auto operator()(auto x) const {
        return cn::max(x) * x + cn::mean(x) * cn::log_sum_exp(x) + cn::max_channels(x);
    }
};

template <class X, auto Layer>
struct seen_as {
    constexpr auto operator()(auto x) const { return x | cn::reshape_to<X> | Layer; }
};

// Layer over an input of these axes seen as X, beside itself over a sequence of all rows.
template <class X, auto Layer>
void acts_on_rows() {
    layer_run rows = check::run_of<Layer, shape<X::count / 4, 4>, true, 3>();
    layer_run r = check::run_of<seen_as<X, Layer>{}, shape<X::count / 4, 4>, true, 3>();
    values const x = random_values(3 * X::count, 1);
    for (layer_run* const each : {&rows, &r}) {
        std::uint32_t number = 1;
        each->set_input(x);
        for (auto const& p : each->parameters()) {
            values w = random_values(std::size_t(p.count()), ++number);
            for (double& v : w) { // variances are positive
                v = v * v + 0.5;
            }
            each->set(p.name.text(), w);
        }
        each->set_grad_output(random_values(each->grad_output().size(), 9));
        each->run();
    }
    check::close("output", r.output(), rows.output(), 1e-14);
    check::close("gradient", r.grad_input(), rows.grad_input(), 1e-13);
    REQUIRE(r.parameters().size() == rows.parameters().size());
    for (std::size_t i = 0; i < r.parameters().size(); ++i) {
        if (r.parameters()[i].trainable) {
            check::close("gradient with respect to a parameter",
                         r.gradient(r.parameters()[i].name.text()),
                         rows.gradient(rows.parameters()[i].name.text()), 1e-13);
        }
    }
}

template <auto Layer>
void acts_on_rows_of_all_ranks() {
    acts_on_rows<heads, Layer>();
    acts_on_rows<shape<3, 2, 2, 4>, Layer>();
    acts_on_rows<shape<1, 2, 3, 1, 2, 4>, Layer>();
}

template <class To>
struct there_and_back {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return (cn::square(x) | cn::reshape_to<To>)*2 | cn::reshape_to<S>;
    }
};
template <class To>
struct there {
    constexpr auto operator()(auto x) const { return x | cn::reshape_to<To>; }
};

} // namespace

TEST_CASE("layers work along the last axis of a tensor of any rank") {
    acts_on_rows_of_all_ranks<cn::gelu>();
    acts_on_rows_of_all_ranks<cn::softmax>();
    acts_on_rows_of_all_ranks<cn::dense<5>>();
    acts_on_rows_of_all_ranks<cn::batch_norm>();
    acts_on_rows_of_all_ranks<normalized{}>();
    acts_on_rows_of_all_ranks<joined_parts{}>();
    acts_on_rows_of_all_ranks<summed{}>();
    acts_on_rows_of_all_ranks<cn::flatten>();
}

TEST_CASE("elements keep their logical order from an image to rows and back") {
    values const x = random_values(48, 1);
    auto const keeps = [&](layer_run r) {
        r.set_input(x);
        r.run();
        CHECK(r.output() == x);
    };
    keeps(check::run_of<there<heads>{}, shape<2, 3, 4>, true, 2>());
    keeps(check::run_of<there<row_major_shape<4, 2, 3>>{}, shape<2, 3, 4>, true, 2>());
    keeps(check::run_of<there<heads>{}, shape<6, 4>, true, 2>());
    keeps(check::run_of<there<shape<2, 3, 4>>{}, shape<6, 4>, true, 2>());
    check::against_finite_differences(
        check::run_of<there_and_back<heads>{}, shape<2, 3, 4>, true, 2>());
    check::against_finite_differences(
        check::run_of<there_and_back<heads>{}, shape<6, 4>, true, 2>());
    check::against_finite_differences(
        check::run_of<there_and_back<row_major_shape<4, 2, 3>>{}, shape<4, 2, 3>, true, 2>());
    check::against_finite_differences(
        check::run_of<there_and_back<shape<4, 3, 2>>{}, shape<2, 3, 4>, true, 2>());
}

TEST_CASE("a reshape between tensors that are no images moves nothing") {
    cn::ir::graph g{true};
    auto const x = cn::channel_index<shape<6, 4>>(g) | cn::reshape_to<heads>;
    CHECK(cn::ir::is_view(g.nodes[x.id], g.nodes.data()));
    auto const image = x | cn::reshape<2, 3, 4>;
    CHECK(!cn::ir::is_view(g.nodes[image.id], g.nodes.data()));
    auto const same = image | cn::reshape<2, 3, 4>;
    CHECK(same.id == image.id);
}
