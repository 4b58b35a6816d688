// Permutations of axes.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/channel_shuffle.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/pixel_shuffle.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::values, cn::row_major_shape, cn::shape;

namespace {

template <cn::Shape From, auto Layer>
struct seen_as {
    constexpr auto operator()(auto x) const { return x | cn::reshape_to<From> | Layer; }
};

// The elements of S in the order of a permutation, by its definition.
template <cn::Shape S, std::size_t... Axes>
values permuted(values const& x) {
    std::size_t const axes[] = {Axes...};
    constexpr std::size_t rank = S::rank;
    std::size_t stride[rank];
    for (std::size_t i = rank, all = 1; i-- > 0;) {
        stride[i] = all;
        all *= S::extent[i];
    }
    values y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t from = i / S::count * S::count, rest = i % S::count;
        for (std::size_t k = rank; k-- > 0;) {
            from += rest % S::extent[axes[k]] * stride[axes[k]];
            rest /= S::extent[axes[k]];
        }
        y.push_back(x[from]);
    }
    return y;
}

template <cn::Shape S, std::size_t... Axes>
void permutes() {
    using input = shape<S::count / S::extent[S::rank - 1], S::extent[S::rank - 1]>;
    auto r = check::run_of<seen_as<S, cn::permute<Axes...>>{}, input, true, 2>();
    values const x = check::random_values(2 * S::count, 1), g = check::random_values(x.size(), 2);
    r.set_input(x);
    r.set_grad_output(g);
    r.run();
    CHECK(r.output() == permuted<S, Axes...>(x));
    CHECK(permuted<S, Axes...>(r.grad_input()) == g);
}

} // namespace

TEST_CASE("axes change places") {
    permutes<shape<3, 5>, 1, 0>();
    permutes<row_major_shape<4, 2, 3>, 1, 0, 2>();
    permutes<row_major_shape<4, 2, 3>, 2, 0, 1>();
    permutes<row_major_shape<4, 2, 3>, 2, 1, 0>();
    permutes<row_major_shape<40, 2, 33>, 0, 2, 1>();
    permutes<shape<2, 3, 4, 5>, 3, 1, 0, 2>();
    permutes<shape<2, 1, 3, 2, 1, 4>, 5, 4, 3, 2, 1, 0>();
}

TEST_CASE("an image stays an image") {
    permutes<shape<2, 3, 4>, 0, 2, 1>();
    permutes<shape<2, 3, 4>, 1, 2, 0>();
    permutes<shape<2, 3, 4>, 2, 1, 0>();
}

TEST_CASE("axes of one element move nothing") {
    cn::ir::graph g{true};
    auto const x = cn::detail::new_input<row_major_shape<1, 6, 4>>(g);
    auto const y = x | cn::permute<1, 0, 2>;
    CHECK(y.id == x.id);
    auto const z = x | cn::permute<1, 2, 0>;
    CHECK(cn::ir::is_view(g.nodes[z.id], g.nodes.data()));
}

namespace {

// Channel i of group g becomes number i * Groups + g.
template <cn::Shape S, std::size_t Groups>
void shuffles() {
    auto r = check::run_of<seen_as<S, cn::channel_shuffle<Groups>>{}, shape<S::count>, true, 2>();
    values const x = check::random_values(2 * S::count, 1), g = check::random_values(x.size(), 2);
    r.set_input(x);
    r.set_grad_output(g);
    r.run();
    constexpr std::size_t channels = S::extent[0], pixels = S::count / channels;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const sample = i / S::count, from = i % S::count / pixels;
        std::size_t const to = from % (channels / Groups) * Groups + from / (channels / Groups);
        std::size_t const place = (sample * channels + to) * pixels + i % pixels;
        CHECK(r.output()[place] == x[i]);
        CHECK(r.grad_input()[i] == g[place]);
    }
}

} // namespace

TEST_CASE("channels are shuffled between groups") {
    shuffles<shape<6, 3, 2>, 2>();
    shuffles<shape<6, 3, 2>, 3>();
    shuffles<shape<116, 2, 2>, 2>();
    shuffles<shape<36, 2, 2>, 18>();
    shuffles<shape<6, 3, 2>, 1>();
    shuffles<shape<6, 3, 2>, 6>();
}

TEST_CASE("an image is reshaped to another one in logical order") {
    auto r = check::layer_of<seen_as<shape<6, 2, 2>, cn::reshape<2, 3, 4>>{}, shape<24>, true,
                             2>::make();
    values const x = check::random_values(48, 1), g = check::random_values(48, 2);
    r.set_input(x);
    r.set_grad_output(g);
    r.run();
    CHECK(r.output() == x);
    CHECK(r.grad_input() == g);
}

namespace {

// Pixel (y, x) of channel c comes from pixel (y / F, x / F) of a channel that the rests number.
template <std::size_t F, std::size_t C, std::size_t H, std::size_t W>
void shuffles_pixels() {
    using small = shape<C * F * F, H, W>;
    using large = shape<C, H * F, W * F>;
    auto r = check::run_of<seen_as<small, cn::pixel_shuffle<F>>{}, shape<small::count>, true, 2>();
    auto back =
        check::run_of<seen_as<large, cn::pixel_unshuffle<F>>{}, shape<large::count>, true, 2>();
    values const x = check::random_values(2 * small::count, 1),
                 g = check::random_values(x.size(), 2);
    r.set_input(x);
    r.set_grad_output(g);
    r.run();
    values expected;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const column = i % (W * F), row = i / (W * F) % (H * F),
                          channel = i / (W * F) / (H * F); // of all samples
        std::size_t const from = channel * F * F + row % F * F + column % F;
        expected.push_back(x[(from * H + row / F) * W + column / F]);
    }
    CHECK(r.output() == expected);
    back.set_input(expected);
    back.set_grad_output(r.grad_input());
    back.run();
    CHECK(back.output() == x);
    CHECK(back.grad_input() == g);
}

} // namespace

TEST_CASE("channels become pixels, and pixels channels") {
    shuffles_pixels<2, 1, 3, 4>();
    shuffles_pixels<3, 5, 2, 2>();
    shuffles_pixels<2, 3, 1, 5>();
    shuffles_pixels<1, 3, 2, 2>();
}
