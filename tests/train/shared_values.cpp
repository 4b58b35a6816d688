// Trainings of networks whose weights are computed of parameters: once for all samples of a step,
// by replicas, devices, loops over time and repeated blocks as by one of each.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#ifndef CASTNET_TEST_DEVICE
#include <castnet/policy/model_parallel.hpp>
#endif

#include "../parameters.hpp"
#include "policy.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using cn::shape;

namespace {

using check::policy;
constexpr std::size_t length = 5, width = 6;

template <class S>
constexpr auto table(auto x, char const* name) {
    return cn::new_parameter<S>(*x.g, name, {.start = cn::random_normal(0.4F)});
}

// Times the product of two thin matrices, whose columns have the same length.
struct thin_layer {
    template <class S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"thin"}};
        auto const weight =
            cn::matmul(table<shape<width, 2>>(x, "a"), table<shape<2, width>>(x, "b"));
        return cn::matmul(x, weight / (cn::norm<0>(weight) + 0.5));
    }
};
inline constexpr thin_layer thin{};

constexpr auto block = cn::residual<thin, cn::tanh, thin>;

// Places of the steps: parts of a table, from the last one on.
struct place_layer {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"places"}};
        auto const all = cn::cumsum(table<shape<length + 2, width / 2>>(x, "table"));
        auto const some = cn::reverse<0>(cn::slice<0, 1, length + 1>(all));
        return x + cn::concat(some, cn::softmax(some));
    }
};

struct loop_layer {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"loop"}};
        auto const factor = table<shape<2, width>>(x, "factor");
        auto const weight = cn::matmul(cn::transpose(factor), factor);
        auto const cell = [&](auto x_t, auto h) {
            return cn::tanh(x_t + cn::matmul(h, weight) * cn::sum<0>(factor));
        };
        return cn::scan(x, shape<width>{}, cell).outputs;
    }
};

// Each step times a weight of its own.
struct places_apart_layer {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"apart"}};
        using weights = cn::row_major_shape<length, width, width>;
        return x + cn::einsum<"ti,tio->to">(x, table<weights>(x, "weight"));
    }
};

// Cosines with the prototypes of three classes.
struct cosine_layer {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"cosines"}};
        auto const prototypes = table<shape<3, width>>(x, "prototypes");
        auto const unit = [](auto rows) { return rows / cn::norm<1>(rows, cn::keepdims); };
        auto const all = cn::times_rows(unit(x), unit(prototypes));
        return 4 * cn::mean<0>(all);
    }
};

// Layers of a parameter.
struct codes_layer {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"codes"}};
        return x + (table<shape<length, 40>>(x, "table") | cn::dense<130> | cn::gelu |
                    cn::layer_norm | cn::dense<width>);
    }
};

template <auto... Blocks>
using network = cn::sequential<cn::input<length, width>, place_layer{}, Blocks..., loop_layer{},
                               places_apart_layer{}, cn::named<"end", cosine_layer{}>>;
using repeated = network<cn::repeat<3, block>>;
using written = network<block, block, block>;

// Two products with weights that are wider than tiles, of all steps at once and within a loop: by
// dense layers, or by matrices (features, units) or transposed ones.
enum class weight_form { dense, matrix, transposed };
template <weight_form Form>
struct wide_layer {
    template <std::size_t Units, std::size_t Features>
    static constexpr auto product(cn::symbol<shape<Features>> x, auto weight) {
        if constexpr (Form == weight_form::transposed) {
            return cn::matmul(weight, x);
        } else {
            return cn::matmul(x, weight);
        }
    }
    template <std::size_t Units, std::size_t Time, std::size_t Features>
    static constexpr auto product(cn::symbol<shape<Time, Features>> x, auto weight) {
        if constexpr (Form == weight_form::transposed) {
            return cn::matmul_transposed(x, weight);
        } else {
            return cn::matmul(x, weight);
        }
    }
    template <std::size_t Units, std::size_t Features>
    static constexpr auto weight(auto x, char const* name) {
        constexpr bool turned = Form == weight_form::transposed;
        return table<shape<turned ? Units : Features, turned ? Features : Units>>(x, name);
    }

    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"wide"}};
        constexpr std::size_t in = 90, units = 170;
        if constexpr (Form == weight_form::dense) {
            constexpr auto up = cn::dense<units>.no_bias();
            constexpr auto down = cn::dense<in>.no_bias();
            auto const y = x | cn::named<"a", up> | cn::named<"b", down>;
            auto const cell = [=](auto x_t, auto h) {
                return cn::tanh(x_t + (h | cn::named<"c", up> | cn::named<"d", down>));
            };
            return cn::scan(y, shape<in>{}, cell).outputs;
        } else {
            auto const a = weight<units, in>(x, "a");
            auto const b = weight<in, units>(x, "b");
            auto const c = weight<units, in>(x, "c");
            auto const d = weight<in, units>(x, "d");
            auto const y = product<in>(product<units>(x, a), b);
            auto const cell = [=](auto x_t, auto h) {
                return cn::tanh(x_t + product<in>(product<units>(h, c), d));
            };
            return cn::scan(y, shape<in>{}, cell).outputs;
        }
    }
};

// Predictions and losses, from the same weights whatever their form.
template <weight_form Form>
auto of_wide_products() {
    constexpr std::size_t time = 70, in = 90, units = 170;
    using network = cn::sequential<cn::input<time, in>, wide_layer<Form>{}>;
    cn::model<network, policy, cn::batch<3>> model{cn::seed{3}};
    for (std::size_t i = 0; i < 4; ++i) {
        std::size_t const features = i % 2 == 0 ? in : units, out = in + units - features;
        std::vector<double> weight(features * out);
        for (std::size_t k = 0; k < features; ++k) {
            for (std::size_t n = 0; n < out; ++n) {
                weight[Form == weight_form::matrix ? k * out + n : n * features + k] =
                    0.05 * std::sin(double(k * k + 7 * n + i));
            }
        }
        model.set(model.parameter_at(i).name.text(), weight);
    }
    std::vector<double> x(3 * time * in), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(double(i * i % 1009));
        y[i] = std::cos(double(i % 101));
    }
    auto all = model.predict(x);
    cn::data::dataset<shape<time, in>, shape<time, in>> const data{x, y};
    auto training = cn::compile(model, cn::mse, cn::momentum{.learning_rate = 0.1});
    for (int i = 0; i < 3; ++i) {
        using T = typename policy::value_type;
        all.push_back(T(training.step(data, std::vector<std::size_t>{0, 1, 2}).loss()));
    }
    return all;
}

auto samples() {
    std::vector<float> x(24 * length * width), y(24);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = float(i % 3);
    }
    return cn::data::dataset<cn::data::label<3>, shape<length, width>>{x, y};
}

// Parameters, predictions and losses.
template <class Network, class Policy, std::size_t Batch, class Optimizer = cn::momentum>
auto after_fit(Optimizer const& optimizer = {}) {
    cn::model<Network, Policy, cn::batch<Batch>> model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    auto const history = training.fit(samples(), {.epochs = 2, .verbose = cn::verbosity::silent});
    auto all = check::everything(model);
    auto const predicted = model.predict(samples());
    all.insert(all.end(), predicted.begin(), predicted.end());
    using T = typename Policy::value_type;
    for (double const loss : history["loss"]) {
        all.push_back(T(loss));
    }
    return all;
}

} // namespace

TEST_CASE("repeated blocks with weights that are computed are those written out") {
    auto const expected = after_fit<written, policy, 8>();
    CHECK(after_fit<repeated, policy, 8>() == expected);
}

TEST_CASE("batches and replicas share what samples share") {
    auto const expected = after_fit<repeated, policy, 8>();
    using two = cn::policy::logical<policy, 2>;
    CHECK(check::largest_difference(after_fit<repeated, two, 4>(), expected) < 1e-12);
    CHECK(check::largest_difference(after_fit<repeated, cn::policy::logical<policy, 8>, 1>(),
                                    expected) < 1e-12);
    using local = cn::policy::logical<policy, 2, cn::strategy::local_batch_norm>;
    CHECK(check::largest_difference(after_fit<repeated, local, 4>(), expected) < 1e-12);
    CHECK(check::largest_difference(
              after_fit<repeated, policy, 2>(cn::accumulate<4>(cn::momentum{})), expected) < 1e-12);
}

TEST_CASE("any matrix that samples share is the weight of a product, whatever its shape") {
    auto const expected = of_wide_products<weight_form::dense>();
    CHECK(check::largest_difference(of_wide_products<weight_form::matrix>(), expected) < 1e-9);
    CHECK(check::largest_difference(of_wide_products<weight_form::transposed>(), expected) < 1e-9);
}

TEST_CASE("predictions follow the parameters") {
    cn::model<repeated, policy, cn::batch<8>> model{cn::seed{3}};
#ifndef CASTNET_TEST_DEVICE
    CHECK(model.prepared_bytes > 0);
#endif
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.3});
    auto const data = samples();
    for (int i = 0; i < 3; ++i) {
        auto const before = model.predict(data);
        training.step(data, std::vector<std::size_t>{0, 1, 2, 3, 4});
        auto const after = model.predict(data);
        CHECK(after != before);
        CHECK(check::largest_difference(cn::output_of<"end">(model, data), after) < 1e-12);
        cn::model<repeated, policy, cn::batch<1>> other{cn::seed{5}};
        cn::copy_parameters(model, other);
        CHECK(check::largest_difference(other.predict(data), after) < 1e-12);
    }
}

#ifndef CASTNET_TEST_DEVICE
TEST_CASE("parts on devices of their own end with the bits of one") {
    using placed = network<cn::on<1, block, thin>, block>;
    auto const expected = after_fit<network<block, thin, block>, policy, 8>();
    CHECK(after_fit<placed, cn::policy::model_parallel<policy, 2>, 8>() == expected);
}

TEST_CASE("threads change nothing") {
    int const before = cn::cpu::thread_count();
    auto const expected = after_fit<repeated, policy, 8>();
    for (int const threads : {1, 3, 8}) {
        cn::cpu::set_thread_count(threads);
        CHECK(after_fit<repeated, policy, 8>() == expected);
    }
    cn::cpu::set_thread_count(before);
}

TEST_CASE("steps one after the other compute what a sequence does") {
    using steps = cn::sequential<cn::input<length, width>, place_layer{}, block, loop_layer{}>;
    cn::model<steps, policy, cn::batch<1>> const model{cn::seed{3}};
    std::vector<double> x(length * width);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(double(i * i));
    }
    auto const whole = model.predict(x);
    cn::stateful_predictor one{model};
    for (std::size_t t = 0; t < length; ++t) {
        auto const y = one.predict(std::span<double const, width>{x.data() + t * width, width});
        for (std::size_t i = 0; i < width; ++i) {
            CHECK(y[i] == doctest::Approx(whole[t * width + i]).epsilon(1e-12));
        }
    }
}

TEST_CASE("bfloat16 takes the same steps, but for rounding") {
    auto const expected = after_fit<repeated, policy, 8>();
    auto const rounded = after_fit<repeated, cn::policy::bf16<cn::policy::cpu>, 8>();
    CHECK(check::largest_difference(std::vector<double>(rounded.begin(), rounded.end()), expected) <
          0.1);
}
#endif
