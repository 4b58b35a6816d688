// Embeddings: rows that ids name, the sums of their gradients, and products with the whole table.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/embedding.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/one_hot.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

#include <algorithm>
#include <utility>

namespace cn = castnet;
using check::layer_run, check::random_values, check::values;
using cn::embedding, cn::input, cn::input_ids, cn::network, cn::sequential, cn::shape;

namespace {

// `count` whole numbers below `limit`, most of them small, as the words of a text are.
values words(std::size_t count, std::size_t limit) {
    values ids = random_values(count, 5);
    for (double& x : ids) {
        x = std::floor(std::pow(x / 4 + 0.5, 3) * double(limit));
    }
    return ids;
}

struct one_hot_of_five {
    constexpr auto operator()(auto x) const { return cn::one_hot<5>(x); }
};
template <class S>
using vectors_of = typename decltype(cn::one_hot<3>(std::declval<cn::symbol<S>>()))::shape_type;
static_assert(std::is_same_v<vectors_of<cn::ids<7, 5>>, shape<5, 3>>);
static_assert(std::is_same_v<vectors_of<shape<>>, shape<3>>);
static_assert(std::is_same_v<vectors_of<cn::ids<3, 2, 5>>, cn::row_major_shape<2, 5, 3>>);

template <class S>
using rows_of = typename decltype(embedding<7, 3>(std::declval<cn::symbol<S>>()))::shape_type;
static_assert(std::is_same_v<rows_of<cn::ids<7, 5>>, shape<5, 3>>);
static_assert(std::is_same_v<rows_of<cn::ids<4>>, shape<3>>);
static_assert(std::is_same_v<rows_of<cn::ids<7, 2, 5>>, cn::row_major_shape<2, 5, 3>>);
static_assert(sequential<input_ids<7, 5>, embedding<7, 3>>::parameter_count == 21);

// The rows and the sums of gradients of so many random ids, beside loops.
template <std::size_t Vocabulary, std::size_t Dimension, std::size_t Time, std::size_t Batch>
void looks_up(int padding = -1) {
    using table = sequential<input_ids<Vocabulary, Time>, embedding<Vocabulary, Dimension>>;
    using padded =
        sequential<input_ids<Vocabulary, Time>, embedding<Vocabulary, Dimension>.padding_idx(1)>;
    layer_run r =
        padding < 0 ? layer_run::of<table, true, Batch>() : layer_run::of<padded, true, Batch>();
    values const ids = words(Batch * Time, Vocabulary),
                 weight = random_values(Vocabulary * Dimension, 1),
                 gradient = random_values(ids.size() * Dimension, 2);
    r.set_input(ids);
    r.set("0.weight", weight);
    r.set_grad_output(gradient);
    r.run();
    r.run(); // over what the first one left
    values rows(gradient.size()), sums(weight.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        for (std::size_t k = 0; k < Dimension; ++k) {
            std::size_t const at = std::size_t(ids[i]) * Dimension + k;
            rows[i * Dimension + k] = weight[at];
            sums[at] += ids[i] == padding ? 0 : gradient[i * Dimension + k];
        }
    }
    CHECK(r.output() == rows);
    CHECK(r.gradient("0.weight") == sums);
}

struct two_columns { // the same table for both inputs
    static constexpr auto place = cn::shared<"place", embedding<6, 4>>;
    constexpr auto operator()(auto from, auto to) const {
        return cn::tanh(from | place) * (to | place);
    }
};
struct language_model {
    constexpr auto operator()(auto x) const {
        return x | cn::shared<"tokens", embedding<6, 4>.init(cn::random_normal(0.5))> |
               cn::dense<4> | cn::tanh | cn::shared<"tokens", cn::tied_output<6>>;
    }
};
struct own_rows { // of a table that each sample has
    constexpr auto operator()(auto ids, auto table) const { return cn::gather_rows(table, ids); }
};
struct own_products {
    constexpr auto operator()(auto x, auto table) const { return cn::times_rows(x, table); }
};
struct masked { // ids are numbers, too
    constexpr auto operator()(auto x) const {
        auto const counts = cn::reshape<3, 1>(cn::greater(x, 0));
        return cn::tanh(x | embedding<6, 4>) * counts;
    }
};

} // namespace

TEST_CASE("an embedding gathers rows, and adds up their gradients in the order of the samples") {
    looks_up<7, 4, 3, 4>();
    looks_up<3, 1, 5, 4>();
    looks_up<2, 300, 9, 3>();  // of more columns than a block has threads
    looks_up<3, 1100, 9, 3>(); // and than it adds up at once
    looks_up<1000, 8, 70, 5>();
    looks_up<50, 3, 3000, 4>(); // of more positions than a block marks at once
    looks_up<7, 4, 3, 4>(1);
}

TEST_CASE("the gradient of an embedding") {
    values const ids = words(12, 6);
    check::against_finite_differences(
        layer_run::of<sequential<input_ids<6, 3>, embedding<6, 4>, cn::tanh, cn::dense<2>>, true,
                      4>(),
        1e-7, ids);
    check::against_finite_differences(
        layer_run::of<sequential<input_ids<6>, embedding<9, 2>, cn::tanh>, true, 12>(), 1e-7, ids);
    check::against_finite_differences(layer_run::of<network<masked{}, input_ids<6, 3>>, true, 4>(),
                                      1e-7, ids);
}

TEST_CASE("a table may be read several times, and multiplied as a whole") {
    values const ids = words(12, 6);
    layer_run r =
        layer_run::of<network<two_columns{}, input_ids<6, 3>, input_ids<6, 3>>, true, 4>();
    REQUIRE(r.parameters().size() == 1);
    auto const sums = [&](values const& from, values const& to) {
        r.set_input(from);
        r.set_input(to, 1);
        r.set("place.weight", random_values(24, 1));
        r.set_grad_output(random_values(48, 2));
        r.run();
        return r.gradient("place.weight");
    };
    values reversed = ids;
    std::reverse(reversed.begin(), reversed.end());
    CHECK(sums(ids, reversed) != sums(reversed, ids));
    check::against_finite_differences(
        layer_run::of<network<language_model{}, input_ids<6, 3>>, true, 4>(), 1e-7, ids);
    check::against_finite_differences(
        layer_run::of<sequential<input<3, 4>, cn::tied_output<5>>, true, 4>());
    check::against_finite_differences(
        layer_run::of<sequential<input<1>, cn::tied_output<5>>, true, 4>());
    CHECK(layer_run::of<network<language_model{}, input_ids<6, 3>>, true, 4>()
              .parameters()[0]
              .name.text() == "tokens.weight");
}

TEST_CASE("rows of a table that each sample has") {
    layer_run r = layer_run::of<network<own_rows{}, input_ids<6, 2, 2>, input<6, 4>>, true, 3>();
    values const ids = words(12, 6), table = random_values(72, 1), gradient = random_values(48, 2);
    r.set_input(ids);
    r.set_input(table, 1);
    r.set_grad_output(gradient);
    r.run();
    values rows(48), sums(72);
    for (std::size_t i = 0; i < 48; ++i) {
        std::size_t const at = (i / 16 * 6 + std::size_t(ids[i / 4])) * 4 + i % 4;
        rows[i] = table[at];
        sums[at] += gradient[i];
    }
    CHECK(r.output() == rows);
    check::close("gradient", r.grad_input(1), sums, 1e-14);
}

TEST_CASE("products with the rows of a table that each sample has") {
    layer_run r = layer_run::of<network<own_products{}, input<2, 4>, input<3, 4>>, true, 3>();
    values const x = random_values(24, 1), table = random_values(36, 2);
    r.set_input(x);
    r.set_input(table, 1);
    r.run();
    values expected(18);
    for (std::size_t i = 0; i < 18; ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
            expected[i] += x[i / 3 * 4 + k] * table[(i / 6 * 3 + i % 3) * 4 + k];
        }
    }
    check::close("output", r.output(), expected, 1e-14);
    check::against_finite_differences(std::move(r));
}

TEST_CASE("the result and gradient of many samples do not depend on the number of threads") {
    using net = sequential<input_ids<500, 40>, embedding<500, 16>, cn::dense<8>>;
    layer_run r = layer_run::of<net, true, 64>();
    r.set_input(words(64 * 40, 500));
    r.set("0.weight", random_values(500 * 16, 1));
    r.set("1.weight", random_values(8 * 16, 2));
    r.set_grad_output(random_values(64 * 40 * 8, 3));
    r.run();
    values const before = r.gradient("0.weight");
#ifdef _OPENMP
    int const threads = omp_get_max_threads();
    omp_set_num_threads(1);
    r.run();
    omp_set_num_threads(threads);
#endif
    CHECK(r.gradient("0.weight") == before);
}

TEST_CASE("one-hot vectors of ids") {
    auto r = layer_run::of<sequential<input_ids<7, 3>, one_hot_of_five{}>, true, 2>();
    r.set_input({4, 0, 6, 1, 1, 3});
    r.run();
    CHECK(r.output() == values{0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                               0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0});
    auto one = layer_run::of<sequential<input_ids<5>, one_hot_of_five{}>, true, 2>();
    one.set_input({3, 0});
    one.run();
    CHECK(one.output() == values{0, 0, 0, 1, 0, 1, 0, 0, 0, 0});
}
