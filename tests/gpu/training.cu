// policy::cuda against policy::cpu, graphs against single launches, and what it refuses.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/data/augment.hpp>
#include <castnet/data/transforms.hpp>
#include <castnet/device/cuda/algorithm_cache.hpp>

#include "../bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <numeric>

namespace cn = castnet;
using check::everything, check::largest_difference;

namespace {

using data_set = cn::data::dataset<cn::data::label<4>, cn::shape<3, 9, 9>>;
using network =
    cn::sequential<cn::input<3, 9, 9>, cn::conv2d<8, 3, cn::conv{.padding = 1}>, cn::batch_norm,
                   cn::relu, cn::max_pool2d<3, cn::pooling{.stride = 2}>, cn::conv2d<5, 3>,
                   cn::tanh, cn::flatten, cn::dropout<0.25F>, cn::dense<16>.l2(0.01F), cn::relu,
                   cn::dense<4>>;

data_set samples(std::size_t count) {
    std::vector<float> x(count * 243);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 3 % 4);
    }
    return data_set{std::move(x), y};
}

struct outcome {
    double loss, accuracy, validation;
    std::vector<double> parameters, predictions;
};

// Two epochs, whose last batch is short.
template <class Policy, class Optimizer>
outcome train(Optimizer const& optimizer) {
    auto const data = samples(21);
    cn::model<network, Policy, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    auto const h = training.fit(
        data, {.epochs = 2, .validation = samples(13), .verbose = cn::verbosity::silent});
    auto const y = model.predict(data);
    return {h["loss"].back(),
            h["accuracy"].back(),
            h["val_loss"].back(),
            everything<double>(model),
            {y.begin(), y.end()}};
}

// (Predictions divide by the running statistics of a few small batches.)
void same(outcome const& a, outcome const& b, double tolerance) {
    CHECK(std::fabs(a.loss - b.loss) <= tolerance);
    CHECK(std::fabs(a.validation - b.validation) <= tolerance);
    CHECK(std::fabs(a.accuracy - b.accuracy) <= 10 * tolerance); // some samples may change sides
    CHECK(largest_difference(a.parameters, b.parameters) <= tolerance);
    CHECK(largest_difference(a.predictions, b.predictions) <= 3 * tolerance);
}

using cn::policy::basic_cpu, cn::policy::basic_cuda, cn::policy::eager;

// Room for what castnet plans and nothing else.
using planned =
    decltype(cn::compile(std::declval<cn::model<network, basic_cuda<float>, cn::batch<8>>&>(),
                         cn::cross_entropy, cn::adam{}));
using tight = cn::policy::memory_limit<basic_cuda<float>, planned::bytes>;

using autotuned = cn::policy::autotuned<basic_cuda<float>>;

using of_one_channel =
    cn::sequential<cn::input<1, 11, 10>, cn::conv2d<16, 3, cn::conv{.padding = 1}>, cn::tanh,
                   cn::avg_pool2d<2>, cn::conv2d<8, 3>, cn::tanh, cn::flatten, cn::dense<5>>;

} // namespace

TEST_CASE("the workspace of the libraries counts as much as the plan") {
    cn::model<network, tight, cn::batch<8>> model;
    CHECK_THROWS_WITH_AS(cn::compile(model, cn::cross_entropy, cn::adam{}),
                         doctest::Contains("castnet: policy::memory_limit allows"), cn::error);
}

TEST_CASE("a training takes the steps that it takes on the CPU") {
    same(train<basic_cuda<double>>(cn::sgd{.learning_rate = 0.05}),
         train<basic_cpu<double>>(cn::sgd{.learning_rate = 0.05}), 1e-11);
    same(train<basic_cuda<double>>(cn::adam{}), train<basic_cpu<double>>(cn::adam{}), 1e-9);
    same(train<basic_cuda<float>>(cn::sgd{.learning_rate = 0.05}),
         train<basic_cpu<double>>(cn::sgd{.learning_rate = 0.05}), 1e-4);
    auto const whole = cn::clip_each_norm(cn::lamb{.learning_rate = 0.01}, 0.5);
    same(train<basic_cuda<double>>(whole), train<basic_cpu<double>>(whole), 1e-9);
}

TEST_CASE("images that stay on the GPU are changed there as on the CPU") {
    auto const changed = cn::data::augment(
        samples(21), cn::data::random_flip{}, cn::data::random_shift{.padding = 2},
        cn::data::random_affine{.rotation = 20, .shear = 5}, cn::data::random_resized_crop{},
        cn::data::cutout{.size = 3}, cn::data::standardize{{0.1}, {0.7}});
    auto const trained = []<class Policy>(Policy, auto const& data) {
        cn::model<network, Policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
        training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
        return everything<double>(model);
    };
    CHECK(largest_difference(trained(basic_cuda<double>{}, cn::on_device(changed)),
                             trained(basic_cpu<double>{}, changed)) <= 1e-8);
}

TEST_CASE("graphs and single launches give the same bits") {
    auto const graphs = train<basic_cuda<float>>(cn::adam{});
    auto const single = train<eager<basic_cuda<float>>>(cn::adam{});
    CHECK(graphs.parameters == single.parameters);
    CHECK(graphs.predictions == single.predictions);
    CHECK(graphs.loss == single.loss);
}

TEST_CASE("two runs give the same bits") {
    CHECK(train<basic_cuda<float>>(cn::adamw{}).parameters ==
          train<basic_cuda<float>>(cn::adamw{}).parameters);
}

TEST_CASE("products by tensor cores are near true ones") {
    using tf32 = cn::policy::tf32<basic_cuda<float>>;
    same(train<tf32>(cn::sgd{.learning_rate = 0.05}),
         train<basic_cpu<double>>(cn::sgd{.learning_rate = 0.05}), 0.05);
}

TEST_CASE("products of bfloat16 are near true ones") {
    using bf16 = cn::policy::bf16<basic_cuda<float>>;
    same(train<bf16>(cn::sgd{.learning_rate = 0.05}),
         train<basic_cpu<double>>(cn::sgd{.learning_rate = 0.05}), 0.1);
    auto const graphs = train<bf16>(cn::adam{}), single = train<eager<bf16>>(cn::adam{});
    CHECK(graphs.parameters == single.parameters);
    CHECK(graphs.loss == single.loss);
}

TEST_CASE("a step of images of one channel is near the true one") {
    check::check_bf16_step<of_one_channel, 5, cn::shape<1, 11, 10>,
                           cn::policy::bf16<basic_cuda<float>>>(cn::seed{1}, 0.015);
}

TEST_CASE("a step of attention on tensor cores is near the true one") {
    using bf16 = cn::policy::bf16<basic_cuda<float>>;
    check::check_bf16_step<check::attending, 3, cn::shape<70, 4>, bf16>(cn::seed{2}, 0.03);
    check::check_bf16_step<check::attending_by_eights, 3, cn::shape<70, 4>, bf16>(cn::seed{2},
                                                                                  0.03);
}

TEST_CASE("a step of recurrent layers in bfloat16 is near the true one") {
    check::check_bf16_step<check::recurrent, 3, cn::shape<5, 6>,
                           cn::policy::bf16<basic_cuda<float>>>(cn::seed{1}, 0.02);
}

TEST_CASE("steps of volumes and of normalised weights in bfloat16 are near the true ones") {
    using bf16 = cn::policy::bf16<basic_cuda<float>>;
    check::check_bf16_step<check::volumes, 5, cn::shape<3, 6, 5, 7>, bf16>(cn::seed{1}, 0.02);
    check::check_bf16_step<check::of_normalized_weights, 5, cn::shape<3, 9, 9>, bf16>(cn::seed{1},
                                                                                      0.02);
}

// The file is named before the process chooses first: by no other test.
TEST_CASE("autotuned algorithms repeat the same bits, and a file keeps what was chosen") {
    auto const file = std::filesystem::temp_directory_path() / "castnet_gpu_algorithms";
    std::filesystem::remove(file);
    ::setenv("CASTNET_ALGORITHM_CACHE", file.c_str(), 1);
    auto const graphs = train<autotuned>(cn::adam{}), single = train<eager<autotuned>>(cn::adam{});
    ::unsetenv("CASTNET_ALGORITHM_CACHE");
    CHECK(graphs.parameters == single.parameters);
    CHECK(graphs.predictions == single.predictions);
    same(train<autotuned>(cn::sgd{.learning_rate = 0.05}),
         train<basic_cpu<double>>(cn::sgd{.learning_rate = 0.05}), 1e-4);

    auto const content = cn::io::read_file(file.string());
    auto const known = cn::cuda::algorithm_choices_in(std::string{content.begin(), content.end()});
    auto const count = [&](char const* kind) {
        return std::count_if(known.begin(), known.end(),
                             [&](auto const& k) { return k.first.starts_with(kind); });
    };
    CHECK(count("conv of 8 images") >= 2);
    CHECK(count("product of 8 x ") >= 2);
    CHECK(std::filesystem::remove(file));
}

TEST_CASE("step and fit sum loss and metrics alike") {
    auto const data = samples(16);
    cn::model<network, cn::policy::cuda, cn::batch<8>> a{cn::seed{5}}, b{cn::seed{5}};
    auto by_step = cn::compile(a, cn::cross_entropy, cn::sgd{}, cn::accuracy);
    auto by_fit = cn::compile(b, cn::cross_entropy, cn::sgd{}, cn::accuracy);
    std::vector<std::size_t> order(16);
    std::iota(order.begin(), order.end(), std::size_t(0));
    auto sum = by_step.step(data, std::span{order}.first(8));
    sum += by_step.step(data, std::span{order}.last(8));
    auto const h = by_fit.fit(data, {.shuffle = false, .verbose = cn::verbosity::silent});
    CHECK(h["loss"].back() == doctest::Approx(sum.loss()).epsilon(1e-12));
    CHECK(h["accuracy"].back() == doctest::Approx(sum["accuracy"]));
    CHECK(everything(a) == everything(b));
}

TEST_CASE("what was saved on the GPU is loaded on the CPU") {
    auto const file = std::filesystem::temp_directory_path() / "castnet_gpu.safetensors";
    cn::model<network, cn::policy::cuda, cn::batch<8>> from{cn::seed{5}}, back{cn::seed{6}};
    cn::model<network, cn::policy::cpu, cn::batch<8>> to{cn::seed{6}};
    cn::save(from, file.string());
    cn::load(to, file.string());
    cn::load(back, file.string());
    std::filesystem::remove(file);
    CHECK(everything(from) == everything(to));
    CHECK(everything(from) == everything(back));
    auto const data = samples(5);
    auto const a = from.predict(data), b = to.predict(data);
    for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-4));
    }
}

TEST_CASE("what is allocated is what was planned") {
    cn::model<network, cn::policy::cuda, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    CHECK(training.allocated_bytes() == decltype(training)::bytes);
}

TEST_CASE("a GPU that is not there is refused, and so is memory that is not") {
    using missing = cn::policy::on_gpu<1000>;
    CHECK_THROWS_WITH_AS((cn::model<network, missing, cn::batch<8>>{}),
                         doctest::Contains("was given GPU 1000"), cn::error);
    CHECK_THROWS_WITH_AS(
        cn::cuda::memory(std::size_t{1} << 46),
        doctest::Contains("castnet: an array takes 70368744177664 bytes, but the GPU has "),
        cn::error);
}

TEST_CASE("the quickstart learns as on the CPU") {
    using zalando =
        cn::sequential<cn::input<1, 28, 28>, cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
                       cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>, cn::conv2d<64, 3>, cn::relu,
                       cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;
    char const* const folder = "/usr/share/datasets/fashion-mnist";
    if (!std::filesystem::exists(folder)) {
        std::printf("skipped: no %s\n", folder);
        return;
    }
    auto const data = cn::data::fashion_mnist(folder);
    cn::model<zalando, cn::policy::cuda, cn::batch<128>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data.train,
                 {.epochs = 3, .schedule = cn::one_cycle(4e-3F), .verbose = cn::verbosity::silent});
    CHECK(training.evaluate(data.test)["accuracy"] > 0.89);
}
