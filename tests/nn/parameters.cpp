// Parameters of every role and rank: what is set in logical order is got back, and acts on samples
// as it does in PyTorch; against plain loops in logical order.
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

#include <algorithm>
#include <numeric>

namespace cn = castnet;
using check::close, check::layer_run, check::random_values, check::values;
using cn::row_major_shape, cn::shape, cn::volume;

namespace {

// x * w + 3 * w, seen as X, with a parameter of another shape.
template <class X, class Parameter, cn::role Role>
struct applied {
    constexpr auto operator()(auto input) const {
        auto const x = cn::reshape_to<X>(input);
        auto const w = cn::new_parameter<Parameter>(*x.g, "w", {Role, cn::ones});
        return x * w + 3 * w;
    }
};

// The shape of the same axes in their default order, as inputs have.
template <std::size_t... D>
shape<D...> plain(shape<D...>);

struct extents_of {
    std::size_t of[6]{1, 1, 1, 1, 1, 1}; // from the last axis to the first
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
        for (int axis = 0; axis < 6; ++axis) {
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
    layer_run r = check::run_of<applied<X, Parameter, Role>{}, decltype(plain(X{})), true, 3>();
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

// Dense weights over images that lie flattened in memory, and over the last axis of anything else;
// weights of groups: what they are in PyTorch, in plain loops.
template <class Sum>
void multiplies(layer_run r, std::size_t samples, std::size_t outputs, Sum const& sum) {
    values const x = random_values(r.input().size(), 1);
    values const w = random_values(r.parameter("0.weight").size(), 2);
    values const b = random_values(r.parameter("0.bias").size(), 3);
    r.set_input(x);
    r.set("0.weight", w);
    r.set("0.bias", b);
    CHECK(r.parameter("0.weight") == w);
    r.run();
    values expected;
    for (std::size_t i = 0; i < samples; ++i) {
        for (std::size_t o = 0; o < outputs; ++o) {
            auto const [products, bias] = sum(x.data() + i * x.size() / samples, w, o);
            expected.push_back(products + b[bias]);
        }
    }
    close("output", r.output(), expected, 1e-13);
    check::against_finite_differences(std::move(r));
}

struct number_and_bias {
    double products;
    std::size_t bias;
};

// Of `features` features in each row.
auto rows_times(std::size_t units, std::size_t features) {
    return [=](double const* x, values const& w, std::size_t o) {
        double const* const row = x + o / units * features;
        double const* const weight = w.data() + o % units * features;
        return number_and_bias{std::inner_product(row, row + features, weight, 0.0), o % units};
    };
}

struct flattened_dense {
    constexpr auto operator()(auto x) const { return x | cn::flatten | cn::dense<5>; }
};
struct dense_of_heads {
    constexpr auto operator()(auto x) const {
        return x | cn::reshape_to<row_major_shape<2, 3, 4>> | cn::dense<5>;
    }
};

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
    acts_as_in_logical_order<shape<2, 3, 4, 5>, shape<2, 3, 4, 1>>();
    acts_as_in_logical_order<shape<2, 3, 4, 5>, shape<5>>();
    acts_as_in_logical_order<shape<2, 1, 3, 1, 4>, shape<2, 1, 3, 1, 4>>();
    acts_as_in_logical_order<shape<2, 1, 3, 1, 2, 4>, shape<2, 1, 3, 1, 2, 4>>();
    acts_as_in_logical_order<shape<2, 1, 3, 1, 2, 4>, shape<1, 4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<2, 3, 4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<2, 3, 1>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<1, 1, 4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, shape<4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, shape<3, 4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<2, 1, 1>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<2, 1, 4>>();
    acts_as_in_logical_order<row_major_shape<2, 3, 4>, row_major_shape<1, 3, 1>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<2, 3, 1>>();
    acts_as_in_logical_order<shape<2, 3, 4>, shape<1, 1, 4>>();
    acts_as_in_logical_order<shape<2, 3, 4, 5>, row_major_shape<3, 1, 5>>();
    acts_as_in_logical_order<shape<2, 3, 4, 5>, shape<2, 1, 4, 1>>();
    acts_as_in_logical_order<volume<2, 3, 4, 5>, volume<1, 3, 1, 5>>();
    acts_as_in_logical_order<volume<2, 3, 4, 5>, volume<2, 1, 1, 1>>();
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

TEST_CASE("weights multiply in the logical order of what they read") {
    multiplies(check::run_of<cn::dense<5>, shape<4>, true, 3>(), 3, 5, rows_times(5, 4));
    multiplies(check::run_of<cn::dense<5>, shape<3, 4>, true, 3>(), 3, 15, rows_times(5, 4));
    multiplies(check::run_of<cn::dense<5>, shape<2, 1, 3, 1, 4>, true, 3>(), 3, 30,
               rows_times(5, 4));
    multiplies(check::run_of<dense_of_heads{}, shape<6, 4>, true, 3>(), 3, 30, rows_times(5, 4));
    multiplies(check::run_of<dense_of_heads{}, shape<2, 3, 4>, true, 3>(), 3, 30, rows_times(5, 4));
    multiplies(check::run_of<flattened_dense{}, shape<2, 3, 4>, true, 3>(), 3, 5,
               rows_times(5, 24));
    // four channels and six filters in two groups, of 3x3 pixels; the kernel has 2x2
    multiplies(check::run_of<cn::conv2d<6, 2, cn::conv{.groups = 2}>, shape<4, 3, 3>, true, 3>(), 3,
               24, [](double const* x, values const& w, std::size_t o) {
                   std::size_t const filter = o / 4, at = o / 2 % 2 * 3 + o % 2;
                   double sum = 0;
                   for (std::size_t k = 0; k < 8; ++k) { // channel of the group, row, column
                       std::size_t const channel = filter / 3 * 2 + k / 4;
                       sum += x[channel * 9 + at + k / 2 % 2 * 3 + k % 2] * w[filter * 8 + k];
                   }
                   return number_and_bias{sum, filter};
               });
}

TEST_CASE("every element of a parameter has a place of its own") {
    using cn::memory_order;
    using cn::role;
    auto const check_places = [](cn::parameter const& p) {
        std::vector<std::ptrdiff_t> places, all(std::size_t(p.count()));
        std::iota(all.begin(), all.end(), 0);
        for (std::ptrdiff_t i : all) {
            places.push_back(check::device::place_in_parameter(i, p));
        }
        std::sort(places.begin(), places.end());
        CHECK(places == all);
    };
    cn::parameter p;
    for (role const kind : {role::vector, role::statistic}) {
        for (auto const order : {memory_order::row_major, memory_order::channels_last}) {
            for (int rank = 0; rank <= cn::ir::axes::max_rank; ++rank) {
                p.kind = kind;
                p.shape = {rank, {3, 2, 4, 1, 2, 3}, order};
                check_places(p);
            }
        }
    }
    for (int const pixels : {1, 3, 4, 12}) {
        p.kind = role::dense_weight;
        p.shape = {2, {5, 12}};
        p.pixels = pixels;
        check_places(p);
    }
    p.kind = role::conv_weight;
    p.shape = {4, {6, 2, 3, 4}};
    check_places(p);
}

TEST_CASE("weights are for their product alone") {
    using cn::mistake;
    using cn::role;
    using sequence = cn::sequential<cn::input<2, 3>, product_of_activations{}>;
    CHECK(mistake_of<sequence>() == mistake::product_of_activations);
    CHECK(mistake_of<cn::sequential<cn::input<3, 3>, sum_with_a_weight{}>>() ==
          mistake::weight_as_value);
    CHECK(mistake_of<cn::sequential<cn::input<3>, asked<shape<2, 3>, role::conv_weight>{}>>() ==
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
