// Values that depend on parameters alone: computed once for all samples. Each gradient beside
// finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/take.hpp>
#include <castnet/nn/tensor_functions.hpp>
#include <castnet/nn/tied_dense.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::layer_run, check::random_values, check::run_of,
    check::values, cn::shape;

namespace {

template <class S>
constexpr auto table(auto x, char const* name = "table") {
    return cn::new_parameter<S>(*x.g, name, {.start = cn::ones});
}

// x (5, 6) and a function of a parameter (5, 6), which are one row's and have the same shape.
template <auto F>
struct beside {
    constexpr auto operator()(auto x) const {
        auto const made = F(table<shape<5, 6>>(x));
        return cn::sum(cn::sin(x)) * made;
    }
};

constexpr auto parts = [](auto p) {
    return cn::slice<0, 1, 4>(p) * cn::slice<0, 2, 5>(p) + cn::slice<0, 0, 5, 2>(p);
};
constexpr auto channels = [](auto p) {
    return cn::slice_channels<1, 3>(p) * cn::slice<1, 0, 6, 2>(p);
};
constexpr auto halves = [](auto p) {
    auto const [left, right] = cn::split<1, 2>(cn::sin(p));
    return cn::concatenate<0>(right, left * left);
};
constexpr auto joins = [](auto p) {
    return cn::concat(cn::stack<1>(p, cn::square(p)), cn::stack<1>(p + 1, p)) *
           cn::concatenate<2>(cn::stack<1>(p, p), cn::stack<1>(p, cn::exp(p)));
};
constexpr auto moved = [](auto p) {
    return cn::roll<0>(cn::reverse<1>(p), 2) *
           cn::pad<1, 1, 0>(cn::take<1>(p, std::array{5, 0, 1, 1, 2}));
};
constexpr auto turned = [](auto p) { return cn::matmul(cn::transpose(cn::tanh(p)), p); };
constexpr auto turned_factor = [](auto p) { return cn::matmul_transposed(p, cn::sin(p)); };
constexpr auto reduced = [](auto p) {
    return cn::sum<1>(p * p, cn::keepdims) + cn::mean<0>(p) * cn::max<0>(p, cn::keepdims) +
           cn::logsumexp<1>(p, cn::keepdims) - cn::norm<1>(p, cn::keepdims);
};
constexpr auto unit_rows = [](auto p) { return p / cn::norm<1>(p, cn::keepdims); };
constexpr auto softmax_of_columns = [](auto p) {
    return cn::transpose(cn::softmax(cn::transpose(p)));
};
constexpr auto sums_so_far = [](auto p) { return cn::cumsum(p * p); };
constexpr auto repeats = [](auto p) {
    return cn::tile<1, 2>(p) * cn::repeat_interleave<1, 2>(cn::sin(p));
};
constexpr auto products = [](auto p) { return p * cn::prod<1>(p, cn::keepdims) * cn::trace(p); };
constexpr auto of_middle_axis = [](auto p) {
    auto const cube = cn::reshaped(p, cn::row_major_shape<5, 2, 3>{});
    auto const sums = cn::sum<1>(cube * cube) + cn::max<0, 1>(cube) +
                      cn::transpose(cn::sum<2>(cn::permute<2, 0, 1>(cube)));
    return cn::concat(sums, sums);
};
constexpr auto of_image = [](auto p) {
    auto const image = cn::reshaped(p, shape<5, 2, 3>{});
    auto const factor = cn::mean<1, 2>(cn::permute<0, 2, 1>(image));
    return p * cn::reshaped(factor, shape<5, 1>{}) +
           cn::reshaped(cn::sum<0>(cn::square(image)), shape<6>{});
};
constexpr auto on_constants = [](auto p) { // of which nothing is a parameter
    auto const numbers = cn::channel_index<shape<6>>(*p.g);
    return p * cn::reverse<0>(numbers) + cn::cumsum(numbers);
};

// The table (13 * 13, heads) of Swin's attention in windows of 7 x 7, at each pair of places, but
// smaller.
template <std::size_t Window>
constexpr auto pairs_of_places = [] {
    constexpr std::size_t places = Window * Window;
    std::array<int, places * places> ids{};
    for (std::size_t i = 0; i < places; ++i) {
        for (std::size_t k = 0; k < places; ++k) {
            std::size_t const down = i / Window + Window - 1 - k / Window,
                              across = i % Window + Window - 1 - k % Window;
            ids[i * places + k] = int(down * (2 * Window - 1) + across);
        }
    }
    return ids;
}();
constexpr auto relative_places = [](auto x) {
    auto const bias = table<shape<9, 2>>(x);
    auto const rows = cn::take<0>(bias, pairs_of_places<2>);
    return x + cn::transpose(rows);
};
// Along other axes than the first.
constexpr auto in_lattice = [](auto p) {
    constexpr std::array ids{4, 2, 0, 5, 3, 1, 3, 1, 4, 2, 4, 2, 0, 5, 3, 1, 3, 1, 4, 2};
    constexpr std::array even{0, 3, 1, 4, 2, 5, 0, 3, 1, 4, 2, 5};
    constexpr std::array descending{5, 3, 1, 4, 2, 0, 5, 3, 1, 4, 2, 0};
    static_assert(cn::detail::lattice_of(ids.data(), ids.size()).axes == 0);
    static_assert(cn::detail::lattice_of(even.data(), even.size()).axes == 3);
    static_assert(cn::detail::lattice_of(descending.data(), descending.size()).axes == 3);
    auto const pairs = cn::take<1>(cn::stack<2>(p, cn::sin(p)), descending);
    return p * cn::mean<1>(cn::take<1>(p, even) * cn::take<1>(p, descending), cn::keepdims) +
           cn::reshaped(cn::sum<1, 2>(pairs * pairs), shape<5, 1>{});
};

// Operands of samples beside such as are shared.
constexpr auto mixed = [](auto x) {
    auto const p = table<shape<5, 6>>(x);
    auto const shared = cn::slice<0, 1, 4>(p);
    return cn::matmul(cn::concatenate<0>(shared, x), cn::transpose(cn::reverse<0>(p)));
};

// Weights of which nothing needs another order.
constexpr auto weights = [](auto x) {
    auto const p = cn::sin(table<shape<6, 6>>(x));
    return cn::matmul(cn::matmul_transposed(x, p), cn::square(p)) * 0.3;
};
constexpr auto weights_of_vector = [](auto x) {
    auto const b = cn::exp(table<shape<4, 3>>(x, "b"));
    return cn::matmul(b, cn::matmul(x, table<shape<6, 3>>(x)));
};

// A matrix of its own for each row of a sample, or for each two, on either side.
constexpr auto weights_of_rows = [](auto x) {
    auto const w = cn::reshaped(table<shape<3, 24>>(x), cn::row_major_shape<3, 6, 4>{});
    auto const rows = cn::reshaped(x, cn::row_major_shape<3, 1, 6>{});
    return cn::reshaped(cn::matmul_transposed(cn::sin(cn::matmul(rows, w)), w), shape<3, 6>{});
};
constexpr auto weights_of_pairs = [](auto x) {
    auto const w = cn::reshaped(table<shape<2, 18>>(x), cn::row_major_shape<2, 6, 3>{});
    auto const pairs = cn::reshaped(x, cn::row_major_shape<2, 2, 6>{});
    auto const products = cn::sin(cn::matmul(pairs, w)); // 2, 2, 3
    return cn::reshaped(cn::matmul_transposed(w, products), shape<2, 12>{}) +
           cn::reshaped(cn::matmul(products, cn::permute<0, 2, 1>(w)), shape<2, 12>{});
};

// Layers of parameters, with the bias in the product and alone.
constexpr auto layers = [](auto p) {
    auto const hidden = p | cn::dense<7> | cn::relu | cn::dense<6>;
    return hidden + cn::times_rows(cn::sin(p), cn::slice<0, 0, 1>(p)) * (p | cn::tied_dense<6>);
};
constexpr auto hypernetwork = [](auto x) {
    auto const code = table<shape<4>>(x, "code");
    auto const weight = code | cn::dense<9> | cn::tanh | cn::dense<36>;
    return cn::matmul(x, cn::reshaped(weight, shape<6, 6>{})) + (cn::sin(code) | cn::dense<6>);
};

// A dense layer by the product of two thin matrices.
constexpr auto low_rank = [](auto x) {
    auto const a = table<shape<5, 2>>(x, "a");
    auto const b = table<shape<2, 6>>(x, "b");
    return cn::times_rows(x, cn::matmul(a, b));
};
// The cosine of each row and each of the prototypes.
constexpr auto cosines = [](auto x) {
    return cn::times_rows(unit_rows(x), unit_rows(table<shape<3, 6>>(x)));
};
// Squared distances of rows and entries of a codebook.
constexpr auto distances = [](auto x) {
    auto const codes = table<shape<4, 6>>(x);
    return cn::sum<1>(x * x, cn::keepdims) + cn::sum<1>(codes * codes) -
           2 * cn::times_rows(x, codes);
};

// What nodes of a function of a parameter alone have a value for each sample: sources, and what is
// made of samples.
template <auto F>
constexpr int made_for_samples() {
    cn::ir::graph g{true};
    auto const p = table<shape<5, 6>>(cn::symbol<shape<>>{&g, -1});
    int const first = g.nodes.size();
    void(F(p));
    int count = 0;
    for (int i = first; i < g.nodes.size(); ++i) {
        count += g.nodes[i].size.sample;
    }
    return count;
}

template <auto F>
void check_shared() {
    static_assert(made_for_samples<F>() == 0);
    against_finite_differences(run_of<beside<F>{}, shape<5, 6>, true, 2>());
    against_finite_differences(run_of<beside<F>{}, shape<5, 6>, true, 1>());
}

} // namespace

TEST_CASE("slices and joins of parameters are computed once for all samples") {
    check_shared<parts>();
    check_shared<channels>();
    check_shared<halves>();
    check_shared<joins>();
    check_shared<moved>();
}

TEST_CASE("positions of parameters in a lattice are gathered") {
    check_shared<in_lattice>();
    against_finite_differences(run_of<relative_places, shape<2, 16>, true, 2>());
    against_finite_differences(run_of<relative_places, shape<2, 16>, true, 1>());
    constexpr auto const& ids = pairs_of_places<7>;
    constexpr auto lattice = cn::detail::lattice_of(ids.data(), ids.size());
    static_assert(lattice.axes == 4 && lattice.stride[1] == -13 && lattice.extent[3] == 7);
    layer_run r = run_of<relative_places, shape<2, 16>, true, 2>();
    r.set_input(values(64, 0.0));
    values const bias = random_values(18, 1);
    r.set("0.table", bias);
    r.run();
    for (std::size_t i = 0; i < 64; ++i) {
        auto const id = std::size_t(pairs_of_places<2>[i % 16]);
        CHECK(r.output()[i] == bias[id * 2 + i % 32 / 16]);
    }
}

TEST_CASE("products, transposition and repetition of parameters, too") {
    check_shared<turned>();
    check_shared<turned_factor>();
    check_shared<sums_so_far>();
    check_shared<repeats>();
}

TEST_CASE("layers of parameters, too") {
    check_shared<layers>();
}

TEST_CASE("and reductions of parameters along axes") {
    check_shared<reduced>();
    check_shared<unit_rows>();
    check_shared<softmax_of_columns>();
    check_shared<products>();
    check_shared<of_middle_axis>();
    check_shared<of_image>();
    check_shared<on_constants>();
}

TEST_CASE("what samples share is an operand beside what they have") {
    against_finite_differences(run_of<mixed, shape<2, 6>, true, 3>());
    against_finite_differences(run_of<weights, shape<2, 6>, true, 3>(), 1e-6);
    against_finite_differences(run_of<weights, shape<1, 6>, true, 1>(), 1e-6);
    against_finite_differences(run_of<weights_of_vector, shape<6>, true, 3>(), 1e-6);
    against_finite_differences(run_of<weights_of_rows, shape<3, 6>, true, 3>(), 1e-6);
    against_finite_differences(run_of<weights_of_rows, shape<3, 6>, true, 1>(), 1e-6);
    against_finite_differences(run_of<weights_of_pairs, shape<4, 6>, true, 3>(), 1e-6);
    against_finite_differences(run_of<hypernetwork, shape<2, 6>, true, 3>());
    against_finite_differences(run_of<low_rank, shape<3, 6>, true, 3>());
    against_finite_differences(run_of<cosines, shape<2, 6>, true, 3>());
    against_finite_differences(run_of<distances, shape<2, 6>, true, 3>());
}
