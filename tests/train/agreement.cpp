// What replicas compare before they begin, and what they say of the first thing that differs.
#include <castnet/comm/threads.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/nn/precision_recall.hpp>
#include <castnet/optim/optimizers.hpp>
#include <castnet/train/agreement.hpp>
#include <castnet/train/step_scalars.hpp>

#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>

namespace cn = castnet;
using cn::detail::settings;

namespace {

using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<2>>;

data_set counted(std::size_t samples, std::size_t changed = ~std::size_t(0), float to = 0) {
    std::vector<float> x(samples * 2);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = i / 2 == changed ? to : float(i);
    }
    return data_set{std::move(x), std::vector<int>(samples)};
}

// What three replicas say of which each brings what describe(settings&, rank) writes.
template <class Describe>
std::string said(Describe const& describe) {
    cn::comm::threads<3> group;
    try {
        group.run([&](int rank, auto& others) {
            settings s{"fit"};
            describe(s, rank);
            cn::detail::require_same(others, s);
        });
    } catch (cn::error const& e) {
        return e.what();
    }
    return "agreed";
}

// Whether replicas see that they were given different things.
template <class Add, class Thing>
bool differ(Add const& add, Thing const& ours, Thing const& theirs) {
    CHECK(said([&](settings& s, int) { add(s, ours); }) == "agreed");
    return said([&](settings& s, int rank) { add(s, rank == 2 ? theirs : ours); }) != "agreed";
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the first setting that differs is named, with the values of both ranks") {
    auto const text = said([](settings& s, int rank) {
        s.add("shuffle", "set");
        s.add("epochs", rank);
        s.add("weights", rank);
    });
    CHECK(contains(text, "fit: 'epochs' is 0 on rank 0, but 1 on rank 1; all processes "
                         "must run the same program on the same data"));
    CHECK(contains(said([](settings& s, int rank) {
                       s.add_exactly("rate", rank == 1 ? 0.1 : 0.10000000000000002);
                   }),
                   "'rate' is 0.10000000000000002 on rank 0, but 0.1 on rank 1"));
    CHECK(contains(said([](settings& s, int rank) {
                       if (rank != 1) {
                           s.add("epochs", 3);
                       }
                   }),
                   "'epochs' is 3 on rank 0, but missing on rank 1"));
}

TEST_CASE("replicas in different calls are told so") {
    cn::comm::threads<2> group;
    CHECK_THROWS_WITH_AS(group.run([](int rank, auto& others) {
        settings s{rank == 0 ? "evaluate" : "step"};
        s.add("samples", rank);
        cn::detail::require_same(others, s);
    }),
                         doctest::Contains("rank 0 is in evaluate, but rank 1 is in step; all "
                                           "processes must make the same calls"),
                         cn::error);
}

TEST_CASE("data differ by their number, values, labels, weights and order") {
    auto const add = [](settings& s, data_set const& d) { cn::detail::add_data(s, "data", d); };
    auto const data = counted(64);
    CHECK_FALSE(differ(add, data, counted(64)));
    CHECK(differ(add, data, counted(63)));
    for (std::size_t i = 0; i < data.size(); ++i) {
        CHECK(differ(add, data, counted(64, i, -1)));
    }
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(differ(add, data, counted(64, 7, nan)));
    CHECK_FALSE(differ(add, counted(64, 7, nan), counted(64, 7, nan)));
    std::vector<int> labels(64);
    labels[63] = 1;
    std::vector<float> same(128);
    CHECK(differ(add, data_set{same, std::vector<int>(64)}, data_set{same, labels}));
    CHECK(differ(add, data, data.with_weights(std::vector<float>(64, 2))));
    CHECK(differ(add, counted(1000), counted(1000, 999, -1))); // the first and the last are seen
    CHECK(differ(add, counted(1000), counted(1001).skip(1)));
}

TEST_CASE("data sets of one's own are compared by their size") {
    struct own {
        std::size_t samples;
        std::size_t size() const { return samples; }
    };
    auto const add = [](settings& s, own const& d) { cn::detail::add_data(s, "data", d); };
    CHECK(differ(add, own{3}, own{4}));
}

namespace {
template <class Optimizer>
void differ_in_every_number(std::initializer_list<Optimizer> others) {
    auto const add = [](settings& s, Optimizer const& o) {
        cn::detail::add_optimizer<float>(s, o);
    };
    CHECK_FALSE(differ(add, Optimizer{}, Optimizer{}));
    for (Optimizer const& o : others) {
        CHECK(differ(add, Optimizer{}, o));
    }
}

// Says its numbers.
struct with_names : cn::sgd {
    struct number {
        char const* name;
        double value;
    };
    double other = 1;
    std::vector<number> hyperparameters() const { return {{"other", other}}; }
};
} // namespace

TEST_CASE("optimizers differ by each of their numbers") {
    differ_in_every_number<cn::sgd>(
        {cn::sgd{.learning_rate = 0.02}, cn::sgd{.weight_decay = 1e-4}});
    differ_in_every_number<cn::momentum>(
        {cn::momentum{.momentum = 0.8}, cn::momentum{.nesterov = true}});
    differ_in_every_number<cn::rmsprop>({cn::rmsprop{.alpha = 0.9}, cn::rmsprop{.epsilon = 1e-7}});
    differ_in_every_number<cn::rmsprop_momentum>(
        {cn::rmsprop_momentum{.centered = true}, cn::rmsprop_momentum{.momentum = 0.8}});
    differ_in_every_number<cn::adam>({cn::adam{.learning_rate = 2e-3}, cn::adam{.beta_1 = 0.8},
                                      cn::adam{.beta_2 = 0.99}, cn::adam{.epsilon = 1e-7},
                                      cn::adam{.weight_decay = 1e-4}});
    differ_in_every_number<cn::adamw>({cn::adamw{.weight_decay = 0}});
    differ_in_every_number<cn::adagrad>({cn::adagrad{.epsilon = 1e-7}});
    differ_in_every_number<cn::adadelta>({cn::adadelta{.rho = 0.8}});
    with_names a, b;
    b.other = 2;
    CHECK(contains(said([&](settings& s, int rank) {
                       cn::detail::add_optimizer<float>(s, rank == 1 ? b : a);
                   }),
                   "'the optimizer's other' is 1 on rank 0, but 2 on rank 1"));
}

TEST_CASE("losses and metrics differ by each of their scalars") {
    auto const described = [](double delta, double threshold) {
        auto const all =
            cn::detail::all_scalars(cn::loss_list{cn::mse, cn::huber_loss{.delta = delta}}, cn::mae,
                                    cn::on_output<1>(cn::precision_metric{.threshold = threshold}));
        return std::vector<double>(all.begin(), all.end());
    };
    auto const add = [](settings& s, std::vector<double> const& all) {
        cn::detail::add_scalars(s, all);
    };
    CHECK_FALSE(differ(add, described(1, 0.5), described(1, 0.5)));
    CHECK(differ(add, described(1, 0.5), described(2, 0.5)));
    CHECK(
        contains(said([&](settings& s, int rank) { add(s, described(1, rank == 1 ? 0.7 : 0.5)); }),
                 "'scalar 1 of loss and metrics' is 0.5 on rank 0, but 0.7 on rank 1"));
}

TEST_CASE("schedules differ by their rates, class weights by their values") {
    auto const rates = [](settings& s, cn::schedule const& f) {
        cn::detail::add_schedule(s, f, 1000);
    };
    auto const constant = [](double rate) {
        return cn::schedule{[=](std::uint64_t, std::uint64_t) { return rate; }};
    };
    CHECK_FALSE(differ(rates, constant(0.1), constant(0.1)));
    CHECK(differ(rates, constant(0.1), constant(0.2)));
    CHECK(differ(rates, constant(0.1), cn::schedule{}));
    CHECK(differ(rates, cn::one_cycle(0.1), cn::one_cycle(0.1, 0.4)));
    CHECK(differ(rates, cn::cosine_decay(0.1), cn::cosine_decay(0.1, 1e-3)));
    auto const weights = [](settings& s, std::vector<float> const& w) {
        cn::detail::add_class_weights(s, w);
    };
    using list = std::vector<float>;
    CHECK(differ(weights, list{1, 2, 3}, list{1, 2, 4}));
    CHECK(differ(weights, list{1, 2, 3}, list{1, 2}));
}
