// Reductions of images and volumes along axes: each result beside a loop over logical indices, each
// gradient beside finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "harness.hpp"

#include <algorithm>
#include <cmath>

namespace cn = castnet;
using check::random_values, check::values, cn::row_major_shape, cn::shape;

namespace {

template <std::size_t... Axes>
struct sums {
    constexpr auto operator()(auto x) const { return cn::sum<Axes...>(x); }
};
template <std::size_t... Axes>
struct deviations { // from the mean along the axes, which broadcasts
    constexpr auto operator()(auto x) const {
        return cn::tanh(x - cn::mean<Axes...>(x, cn::keepdims));
    }
};
template <std::size_t Axis>
struct largest_less_norm {
    constexpr auto operator()(auto x) const {
        return cn::max<Axis>(x) - cn::norm<Axis>(x) + cn::prod<Axis>(x);
    }
};
template <std::size_t Axis>
struct places {
    constexpr auto operator()(auto x) const { return cn::argmax<Axis>(x); }
};
struct all_axes { // seven reductions that keep them, (7, 1, 1) together
    constexpr auto operator()(auto x) const {
        return cn::concat(cn::sum(x, cn::keepdims), cn::mean(x, cn::keepdims),
                          cn::max(x, cn::keepdims), cn::min(x, cn::keepdims),
                          cn::norm(x, cn::keepdims), cn::variance(x, cn::keepdims),
                          cn::prod(x, cn::keepdims));
    }
};
struct all_at_once {
    constexpr auto operator()(auto x) const { return cn::logsumexp(x, cn::keepdims); }
};
struct all_places {
    constexpr auto operator()(auto x) const { return cn::argmax(x, cn::keepdims); }
};

// The sums of a sample of shape S, in row-major order, along these axes.
template <class S, std::size_t... Axes>
values summed(values const& x) {
    constexpr auto reduced = [](std::size_t axis) { return ((axis == Axes) || ...); };
    std::size_t rest = 1;
    for (std::size_t axis = 0; axis < S::rank; ++axis) {
        rest *= reduced(axis) ? 1 : S::extent[axis];
    }
    values result(rest);
    for (std::size_t i = 0; i < S::count; ++i) {
        std::size_t place = 0, step = 1, left = i;
        for (std::size_t axis = S::rank; axis-- > 0; left /= S::extent[axis]) {
            if (!reduced(axis)) {
                place += left % S::extent[axis] * step;
                step *= S::extent[axis];
            }
        }
        result[place] += x[i];
    }
    return result;
}

template <class S, std::size_t... Axes>
void sums_along() {
    check::layer_run r = check::run_of<sums<Axes...>{}, S, true, 1>();
    values const x = random_values(S::count, 1);
    r.set_input(x);
    r.run();
    check::close("sums", r.output(), summed<S, Axes...>(x), 1e-14);
    check::against_finite_differences(check::run_of<sums<Axes...>{}, S, true, 2>());
    check::against_finite_differences(check::run_of<deviations<Axes...>{}, S, true, 2>());
}

} // namespace

TEST_CASE("images are summed along their axes") {
    using image = shape<3, 4, 5>;
    sums_along<image, 0>();
    sums_along<image, 1>();
    sums_along<image, 2>();
    sums_along<image, 1, 2>();
    sums_along<image, 0, 2>();
    sums_along<image, 0, 1, 2>();
    sums_along<shape<2, 3, 2, 4>, 0>(); // a volume
    sums_along<shape<2, 3, 2, 4>, 1>();
    sums_along<shape<2, 3, 2, 4>, 1, 2, 3>();
    using symbol = cn::symbol<image>;
    static_assert(
        std::is_same_v<decltype(cn::mean<0>(symbol{}, cn::keepdims))::shape_type, shape<1, 4, 5>>);
    static_assert(std::is_same_v<decltype(cn::mean<0>(symbol{}))::shape_type, shape<4, 5>>);
    static_assert(std::is_same_v<decltype(cn::mean<1>(symbol{}))::shape_type, shape<3, 5>>);
    static_assert(std::is_same_v<decltype(cn::mean<1, 2>(symbol{}))::shape_type, shape<3>>);
    static_assert(std::is_same_v<decltype(cn::max<1>(cn::symbol<shape<2, 3, 2, 4>>{}))::shape_type,
                                 row_major_shape<2, 2, 4>>);
}

TEST_CASE("the largest elements, norms and products of images") {
    using image = shape<3, 4, 5>;
    check::against_finite_differences(check::run_of<largest_less_norm<0>{}, image, true, 2>());
    check::against_finite_differences(check::run_of<largest_less_norm<1>{}, image, true, 2>());
    check::layer_run r = check::run_of<places<1>{}, shape<2, 3, 2>, true, 1>();
    r.set_input({1, 9, 5, 2, 3, 4, /**/ 0, 1, 2, 3, 4, 5});
    r.run();
    CHECK(r.output() == values{1, 0, 2, 2});
    check::layer_run channels = check::run_of<places<0>{}, shape<2, 3, 2>, true, 1>();
    channels.set_input({1, 9, 5, 2, 3, 4, /**/ 0, 1, 2, 3, 4, 5});
    channels.run();
    CHECK(channels.output() == values{0, 0, 0, 1, 1, 1});
}

TEST_CASE("reductions of all axes keep each as one") {
    using image = shape<2, 1, 2>;
    using symbol = cn::symbol<image>;
    check::layer_run r = check::run_of<all_axes{}, image, true, 1>();
    r.set_input({1, 2, 3, 4});
    r.run();
    check::close("reductions", r.output(), {10, 2.5, 4, 1, std::sqrt(30.0), 1.25, 24}, 1e-14);
    check::against_finite_differences(check::run_of<all_axes{}, image, true, 2>());
    check::layer_run sum = check::run_of<all_at_once{}, shape<2, 2>, true, 1>();
    sum.set_input({0, 0, 0, 0});
    sum.run();
    check::close("logsumexp", sum.output(), {std::log(4.0)}, 1e-14);
    static_assert(std::is_same_v<decltype(all_at_once{}(symbol{}))::shape_type, shape<1, 1, 1>>);
    static_assert(std::is_same_v<decltype(all_places{}(symbol{}))::shape_type, shape<1, 1, 1>>);
    check::layer_run place = check::run_of<all_places{}, shape<2, 2>, true, 1>();
    place.set_input({0, 5, 7, 1});
    place.run();
    CHECK(place.output() == values{2});
}
