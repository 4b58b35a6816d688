// Tensors along any of their axes: each result beside a loop over logical indices, each gradient
// beside finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/take.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "harness.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace cn = castnet;
using check::layer_run, check::random_values, check::values, cn::row_major_shape, cn::shape;

namespace {

template <std::size_t Axis, std::size_t Begin, std::size_t End, std::size_t Step = 1>
struct cut {
    constexpr auto operator()(auto x) const { return cn::slice<Axis, Begin, End, Step>(x); }
};
template <std::size_t Axis, std::ptrdiff_t Shift>
struct rolled {
    constexpr auto operator()(auto x) const { return cn::roll<Axis>(x, Shift); }
};
template <std::size_t Axis, std::size_t Times>
struct repeated {
    constexpr auto operator()(auto x) const { return cn::repeat_interleave<Axis, Times>(x); }
};
template <std::size_t... Times>
struct tiled {
    constexpr auto operator()(auto x) const { return cn::tile<Times...>(x); }
};
template <std::size_t Axis>
struct joined { // with a part of itself
    constexpr auto operator()(auto x) const {
        return cn::concatenate<Axis>(x, cn::slice<Axis, 1, 2>(x));
    }
};
template <std::size_t Axis>
struct piled {
    constexpr auto operator()(auto x) const { return cn::stack<Axis>(x, cn::square(x)); }
};
template <std::size_t Axis>
struct piled_alone {
    constexpr auto operator()(auto x) const { return cn::stack<Axis>(x); }
};
template <std::size_t Axis>
struct many { // 21 and 11 tensors, more than an operation has operands
    constexpr auto operator()(auto x) const {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto const eleven = cn::concatenate<Axis>(x, (void(I), 3 * x)...);
            return cn::stack<Axis>(eleven, (void(I), eleven)..., (I < 8 ? eleven : 2 * eleven)...);
        }(std::make_index_sequence<10>{});
    }
};
template <std::size_t Axis>
struct swapped {
    constexpr auto operator()(auto x) const {
        auto const [first, second] = cn::split<Axis, 2>(cn::sin(x));
        return cn::concatenate<Axis>(second, first * first);
    }
};
template <std::size_t... Extents>
struct spread {
    constexpr auto operator()(auto x) const { return cn::broadcast_to<Extents...>(x); }
};
struct spread_parameter {
    constexpr auto operator()(auto x) const {
        return x + cn::broadcast_to<4, 3>(cn::new_parameter<shape<1, 3>>(*x.g, "row", {}));
    }
};
template <auto Layer>
struct inside { // between functions, which kernels join
    constexpr auto operator()(auto x) const { return cn::tanh(cn::square(x) | Layer) + 1; }
};
template <std::size_t Axis>
struct surrounded {
    constexpr auto operator()(auto x) const { return cn::pad<Axis, 1, 2>(x, -1); }
};
template <class X, auto Layer>
struct seen_as {
    constexpr auto operator()(auto x) const { return x | cn::reshape_to<X> | Layer; }
};

using index = std::array<std::size_t, 4>;

// The extents of a shape, of four axes.
template <class S>
index extents() {
    index e{1, 1, 1, 1};
    for (std::size_t i = 0; i < S::rank; ++i) {
        e[i] = S::extent[i];
    }
    return e;
}

// Layer over X: element `at` of a sample's result is the input's element from(at), or 0 where that
// lies outside.
template <class X, auto Layer>
void moves(std::function<index(index)> const& from) {
    using flat = shape<X::count>;
    using result = typename decltype(Layer(std::declval<cn::symbol<X>>()))::shape_type;
    layer_run r = check::run_of<seen_as<X, Layer>{}, flat, true, 2>();
    values const x = random_values(2 * X::count, 1);
    r.set_input(x);
    r.run();
    index const in = extents<X>(), out = extents<result>();
    values expected;
    for (std::size_t i = 0; i < 2 * result::count; ++i) {
        std::size_t rest = i % result::count;
        index at{};
        for (std::size_t axis = 4; axis-- > 0; rest /= out[axis]) {
            at[axis] = rest % out[axis];
        }
        index const source = from(at);
        std::size_t place = i / result::count;
        bool inside_of_x = true;
        for (std::size_t axis = 0; axis < 4; ++axis) {
            place = place * in[axis] + source[axis];
            inside_of_x = inside_of_x && source[axis] < in[axis];
        }
        expected.push_back(inside_of_x ? x[place] : 0);
    }
    CHECK(r.output() == expected);
    check::against_finite_differences(
        check::run_of<seen_as<X, inside<Layer>{}>{}, flat, true, 2>());
}

template <class X, std::size_t Axis>
void all_along() {
    CAPTURE(Axis);
    moves<X, cut<Axis, 1, 2>{}>([](index at) { return at[Axis] += 1, at; });
    moves<X, cn::pad<Axis, 2, 1>>([](index at) { return at[Axis] -= 2, at; });
    moves<X, cn::reverse<Axis>>(
        [](index at) { return at[Axis] = X::extent[Axis] - 1 - at[Axis], at; });
    moves<X, rolled<Axis, 1>{}>(
        [](index at) { return at[Axis] = (at[Axis] + X::extent[Axis] - 1) % X::extent[Axis], at; });
    moves<X, repeated<Axis, 3>{}>([](index at) { return at[Axis] /= 3, at; });
    moves<X, joined<Axis>{}>([](index at) {
        if (at[Axis] == X::extent[Axis]) {
            at[Axis] = 1;
        }
        return at;
    });
}

struct by_eights { // channels that a GPU moves eight at a time, and others
    constexpr auto operator()(auto x) const {
        auto const a = x | cn::slice_channels<8, 16>;
        auto const b = x | cn::slice_channels<24, 8>;
        return cn::concat(cn::concat(cn::tanh(b), a, x), x | cn::slice_channels<3, 8>);
    }
};

} // namespace

TEST_CASE("parts of tensors along every axis") {
    all_along<shape<5>, 0>();
    all_along<shape<4, 3>, 0>();
    all_along<shape<4, 3>, 1>();
    all_along<row_major_shape<2, 4, 3>, 0>();
    all_along<row_major_shape<2, 4, 3>, 1>();
    all_along<row_major_shape<2, 4, 3>, 2>();
    all_along<shape<2, 4, 3>, 0>(); // an image
    all_along<shape<2, 4, 3>, 1>();
    all_along<shape<2, 4, 3>, 2>();
    all_along<shape<2, 3, 2, 4>, 1>();
}

TEST_CASE("positions of an axis at equal distances") {
    auto const spaced =
        []<class X, std::size_t Axis, std::size_t Begin, std::size_t End, std::size_t Step>() {
            CAPTURE(Step);
            moves<X, cut<Axis, Begin, End, Step>{}>(
                [](auto at) { return at[Axis] = Begin + Step * at[Axis], at; });
        };
    spaced.operator()<shape<6>, 0, 1, 6, 2>();
    spaced.operator()<shape<7>, 0, 0, 7, 2>(); // the last one has no neighbour
    spaced.operator()<shape<9>, 0, 3, 9, 3>();
    spaced.operator()<shape<5>, 0, 2, 4, 7>(); // a single one
    spaced.operator()<shape<6, 3>, 0, 1, 6, 3>();
    spaced.operator()<shape<5, 3>, 0, 1, 5, 2>(); // 1 and 3
    spaced.operator()<shape<3, 8>, 1, 0, 8, 4>();
    spaced.operator()<row_major_shape<2, 5, 3>, 1, 0, 5, 2>();
    spaced.operator()<shape<4, 4, 6>, 0, 1, 4, 2>(); // an image
    spaced.operator()<shape<2, 4, 6>, 1, 0, 4, 2>();
    spaced.operator()<shape<2, 4, 5>, 2, 0, 5, 2>();
    using symbol = cn::symbol<shape<2, 4, 5>>;
    static_assert(
        std::is_same_v<decltype(cn::slice<2, 0, 5, 2>(symbol{}))::shape_type, shape<2, 4, 3>>);
}

TEST_CASE("an axis is rolled by any number of positions") {
    moves<shape<5, 2>, rolled<0, -12>{}>([](auto at) { return at[0] = (at[0] + 2) % 5, at; });
    moves<shape<5, 2>, rolled<0, 10>{}>([](auto at) { return at; });
}

TEST_CASE("a tensor several times along its axes") {
    auto const tiles = []<class X, std::size_t... Times>() {
        moves<X, tiled<Times...>{}>([](auto at) {
            for (std::size_t i = 0; i < X::rank; ++i) {
                at[i] %= X::extent[i];
            }
            return at;
        });
    };
    tiles.operator()<shape<5>, 3>();
    tiles.operator()<shape<4, 3>, 2, 1>();
    tiles.operator()<shape<4, 3>, 2, 3>();
    tiles.operator()<row_major_shape<2, 4, 3>, 1, 2, 3>();
    tiles.operator()<shape<2, 4, 3>, 2, 1, 2>(); // an image
    using symbol = cn::symbol<shape<2, 4, 3>>;
    static_assert(
        std::is_same_v<decltype(cn::tile<2, 1, 2>(symbol{}))::shape_type, shape<4, 4, 6>>);
    static_assert(std::is_same_v<decltype(cn::repeat_interleave<1, 2>(symbol{}))::shape_type,
                                 shape<2, 8, 3>>);
}

TEST_CASE("a number around a tensor") {
    layer_run r = check::run_of<surrounded<1>{}, shape<2, 2>, true, 1>();
    r.set_input({1, 2, std::numeric_limits<double>::infinity(), 4});
    r.run();
    double const inf = std::numeric_limits<double>::infinity();
    CHECK(r.output() == values{-1, 1, 2, -1, -1, -1, inf, 4, -1, -1});
    check::against_finite_differences(check::run_of<surrounded<0>{}, shape<3, 2>, true, 2>());
    check::against_finite_differences(check::run_of<surrounded<1>{}, shape<2, 3, 4>, true, 2>());
}

TEST_CASE("a new axis, anywhere") {
    auto const stacks = []<class X, std::size_t Axis>() {
        check::against_finite_differences(
            check::run_of<seen_as<X, piled<Axis>{}>{}, shape<X::count>, true, 2>());
    };
    stacks.operator()<shape<3>, 0>();
    stacks.operator()<shape<3>, 1>();
    stacks.operator()<shape<4, 3>, 1>();
    stacks.operator()<row_major_shape<2, 4, 3>, 2>();
    check::against_finite_differences(check::run_of<piled_alone<1>{}, shape<2, 3>, true, 2>());
    layer_run r = check::run_of<piled<1>{}, shape<2, 3>, true, 1>();
    r.set_input({1, 2, 3, 4, 5, 6});
    r.run();
    CHECK(r.output() == values{1, 2, 3, 1, 4, 9, 4, 5, 6, 16, 25, 36});
    using symbol = cn::symbol<shape<2, 3>>;
    static_assert(std::is_same_v<decltype(cn::stack<0>(symbol{}, symbol{}))::shape_type,
                                 row_major_shape<2, 2, 3>>);
}

TEST_CASE("a tensor is repeated along axes that it lacks") {
    layer_run r = check::run_of<spread<2, 3>{}, shape<3>, true, 2>();
    r.set_input({1, 2, 3, 4, 5, 6});
    r.run();
    values const repeated = r.output();
    CHECK(repeated == values{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
    layer_run steps = check::run_of<cn::repeat_vector<2>, shape<3>, true, 2>();
    steps.set_input({1, 2, 3, 4, 5, 6});
    steps.run();
    CHECK(steps.output() == repeated);
    check::against_finite_differences(check::run_of<inside<spread<4, 3>{}>{}, shape<3>, true, 2>());
    check::against_finite_differences(
        check::run_of<inside<cn::repeat_vector<4>>{}, shape<3>, true, 2>());
    check::against_finite_differences(
        check::run_of<inside<spread<4, 3>{}>{}, shape<4, 1>, true, 2>());
    check::against_finite_differences(
        check::run_of<inside<spread<2, 4, 3>{}>{}, shape<3>, true, 2>()); // no image
    check::against_finite_differences(
        check::run_of<inside<spread<3, 2, 4>{}>{}, shape<3, 1, 1>, true, 2>()); // an image
    check::against_finite_differences(check::run_of<spread_parameter{}, shape<4, 3>, true, 2>());
}

TEST_CASE("a gated linear unit halves the channels") {
    layer_run r = check::run_of<cn::glu, shape<2, 4>, true, 1>();
    values const x = random_values(8, 1);
    r.set_input(x);
    r.run();
    values expected;
    for (std::size_t const i : {0U, 1U, 4U, 5U}) {
        expected.push_back(x[i] / (1 + std::exp(-x[i + 2])));
    }
    check::close("gated", r.output(), expected, 1e-14);
    layer_run image = check::run_of<cn::glu, shape<4, 1, 2>, true, 1>();
    image.set_input(x);
    image.run();
    for (std::size_t i = 0; i < 4; ++i) {
        expected[i] = x[i] / (1 + std::exp(-x[i + 4]));
    }
    check::close("gated image", image.output(), expected, 1e-14);
    check::against_finite_differences(check::run_of<cn::glu, shape<6, 2, 3>, true, 2>());
    check::against_finite_differences(check::run_of<cn::glu, shape<6>, true, 2>());
}

TEST_CASE("any number of tensors are joined") {
    layer_run r = check::run_of<many<1>{}, shape<2, 1>, true, 1>();
    r.set_input({1, 2});
    r.run();
    values expected;
    for (double const x : {1, 2}) {
        for (int k = 0; k < 21; ++k) {
            double const factor = k == 19 || k == 20 ? 2 : 1;
            expected.push_back(factor * x);
            expected.insert(expected.end(), 10, factor * 3 * x);
        }
    }
    CHECK(r.output() == expected);
    check::against_finite_differences(check::run_of<many<0>{}, shape<3, 2>, true, 2>());
}

TEST_CASE("split and joined again") {
    check::against_finite_differences(check::run_of<by_eights{}, shape<3, 32>, true, 2>());
    check::against_finite_differences(check::run_of<swapped<0>{}, shape<4, 3>, true, 2>());
    check::against_finite_differences(check::run_of<swapped<1>{}, shape<3, 4>, true, 2>());
    check::against_finite_differences(check::run_of<swapped<2>{}, shape<3, 2, 4>, true, 2>());
}

namespace {

template <class X>
struct sums_so_far {
    constexpr auto operator()(auto x) const {
        return cn::cumsum(cn::tanh(x) | cn::reshape_to<X>) * 2;
    }
};

} // namespace

TEST_CASE("sums along the last axis so far") {
    check::against_finite_differences(check::run_of<sums_so_far<shape<5>>{}, shape<5>, true, 2>());
    check::against_finite_differences(
        check::run_of<sums_so_far<row_major_shape<2, 3, 4>>{}, shape<24>, true, 2>());
    layer_run r = check::run_of<sums_so_far<shape<2, 3>>{}, shape<6>, true, 1>();
    values const x{1, 2, 3, -1, 0, 2};
    r.set_input(x);
    r.run();
    values expected;
    for (std::size_t i = 0; i < 6; ++i) {
        double const before = i % 3 == 0 ? 0 : expected.back();
        expected.push_back(before + 2 * std::tanh(x[i]));
    }
    check::close("output", r.output(), expected, 1e-14);
}
