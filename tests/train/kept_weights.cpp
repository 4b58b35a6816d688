// Predictions keep what they compute of the parameters, until these change; and batch normalisation
// is folded into weights.
#include <castnet/castnet.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

namespace cn = castnet;

namespace {

// Convolutions with weights of every form, with and without a bias, and a dense layer.
using network =
    cn::sequential<cn::input<360>, cn::reshape<4, 9, 10>, cn::conv2d<8, 3>, cn::batch_norm,
                   cn::relu, cn::conv2d<8, 3, cn::conv{.padding = 1, .groups = 8}>, cn::batch_norm,
                   cn::conv2d<48, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm, cn::relu,
                   cn::conv2d<48, 3, cn::conv{.padding = 1}>, cn::batch_norm, cn::gelu,
                   cn::conv2d<70, 1>, cn::batch_norm, cn::relu, cn::global_avg_pool2d, cn::dense<6>,
                   cn::batch_norm, cn::dense<5>, cn::named<"end", cn::tanh>>;

// The largest difference from what is computed without folding anything.
template <class Model, class Data>
double error(Model const& model, Data const& data) {
    auto const folded = model.predict(data);
    auto const expected = cn::output_of<"end">(model, data);
    double worst = folded.size() == expected.size() ? 0 : 1e300;
    for (std::size_t i = 0; i < folded.size(); ++i) {
        worst = std::max(worst, std::fabs(double(folded[i]) - double(expected[i])));
    }
    return worst;
}

} // namespace

TEST_CASE_TEMPLATE("predictions fold batch_norm and follow the parameters", T, float, double) {
    double const rounding = sizeof(T) == 4 ? 2e-5 : 1e-13;
    auto const data = cn::data::blobs<5, 360>(24, 3, 4);
    using model_type = cn::model<network, cn::policy::basic_cpu<T>, cn::batch<12>>;
    static_assert(model_type::prepared_bytes > 0);
    model_type model{cn::seed{3}};
    CHECK(error(model, data) <= rounding);
    auto const before = model.predict(data);

    // within a fit, whose steps change the parameters between two calls
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    double worst = 0;
    cn::on_step_end compare{
        [&](cn::step_report const&) { worst = std::max(worst, error(model, data)); }};
    training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent, .callbacks = {compare}});
    CHECK(worst <= rounding);
    CHECK(error(model, data) <= rounding);
    auto const after = model.predict(data);
    CHECK(after != before);

    std::vector<T> weight = model.get("1.weight");
    weight[0] += T(1);
    model.set("1.weight", weight);
    CHECK(error(model, data) <= rounding);
    CHECK(model.predict(data) != after);
}

// Blocks whose dense layers, parts of parameters and convolutions are kept in other forms, the
// latter scaled by batch normalisations.
constexpr auto attends = cn::transformer_encoder_layer<
    2, cn::transformer{.feed_forward = 130, .dropout = 0, .norm_first = true}, cn::gelu>;
constexpr auto convolves =
    cn::residual<cn::conv2d<32, 3, cn::conv{.padding = 1}>, cn::batch_norm, cn::relu,
                 cn::conv2d<32, 5, cn::conv{.padding = 2}>.no_bias(), cn::batch_norm>;
template <auto Sequence, auto Image>
using deep = cn::sequential<cn::input<360>, cn::reshape<20, 18>, cn::dense<80>, Sequence,
                            cn::reshape<16, 10, 10>, cn::conv2d<32, 1>, Image,
                            cn::global_avg_pool2d, cn::dense<5>>;
using repeated = deep<cn::repeat<3, attends>, cn::repeat<2, convolves>>;
using written = deep<cn::block<attends, attends, attends>, cn::block<convolves, convolves>>;

TEST_CASE_TEMPLATE("predictions keep weights of every repetition", T, float, double) {
    auto const data = cn::data::blobs<5, 360>(24, 3, 4);
    using policy = cn::policy::basic_cpu<T>;
    cn::model<repeated, policy, cn::batch<12>> a{cn::seed{3}};
    cn::model<written, policy, cn::batch<12>> b{cn::seed{3}};
    static_assert(a.prepared_bytes == b.prepared_bytes);
    auto const same = [&] {
        for (std::size_t i = 0; i < a.parameter_tensors(); ++i) {
            auto const from = a.parameter_at(i).name.text(), to = b.parameter_at(i).name.text();
            b.set(to, a.get(from));
        }
        return a.predict(data) == b.predict(data);
    };
    CHECK(same());
    auto const before = a.predict(data);
    auto training = cn::compile(a, cn::cross_entropy, cn::adam{});
    training.fit(data, {.epochs = 1, .verbose = cn::verbosity::silent});
    CHECK(same());
    CHECK(a.predict(data) != before);
}

TEST_CASE("threads that predict first at the same time share what one of them computes") {
    auto const data = cn::data::blobs<5, 360>(24, 3, 4);
    cn::model<network, cn::policy::cpu, cn::batch<12>> const model{cn::seed{3}};
    std::vector<float> found[4];
    std::vector<std::thread> threads;
    for (auto& mine : found) {
        threads.emplace_back([&] {
            cn::predictor predictor{model};
            mine = predictor.predict(data);
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (auto const& one : found) {
        CHECK(one == model.predict(data));
    }
}
