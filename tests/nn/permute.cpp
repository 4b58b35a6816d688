// Permutations of axes.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/permute.hpp>
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
