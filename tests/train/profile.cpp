// A profile accounts for every step of the plan and changes no weight.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <numeric>

namespace cn = castnet;

using network =
    cn::sequential<cn::input<1, 8, 8>, cn::conv2d<4, 3>, cn::relu, cn::flatten, cn::dense<3>>;

TEST_CASE("a profile names the fused steps and their work") {
    cn::data::dataset<cn::data::label<3>, cn::shape<1, 8, 8>> const data{
        std::vector<float>(6 * 64, 0.5F), std::vector<int>{0, 1, 2, 0, 1, 2}};
    cn::model<network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    auto const before = model.get("0.weight");
    std::vector<std::size_t> samples(6);
    std::iota(samples.begin(), samples.end(), std::size_t{0});
    auto const rows = cn::profile(training, data, samples, 3);

    REQUIRE(rows.size() == std::size_t(training.training_plan().sizes.launches));
    double flops = 0;
    int fused = 0, gradients = 0, fast = 0;
    for (auto const& row : rows) {
        CHECK(row.seconds >= 0);
        CHECK(row.bytes > 0);
        CHECK(row.of_peak >= 0);
        fast += row.of_peak > 0;
        flops += row.flops;
        fused += row.what == "conv add relu";
        gradients += row.what == "conv_weight";
    }
    CHECK(fused == 1);
    CHECK(gradients == 1);
    CHECK(fast > 0);
    CHECK(flops > 6 * 2.0 * 36 * 4 * 9); // the forward convolution alone
    CHECK(flops <= 6 * double(training.flops_per_sample));
    CHECK(model.get("0.weight") == before);
    CHECK(training.steps() == 0);
    CHECK(cn::profile_table(rows).find("conv add relu") != std::string::npos);
}

TEST_CASE("a profile counts all repetitions of a block") {
    using repeated =
        cn::sequential<cn::input<4>, cn::dense<4>, cn::repeat<3, cn::dense<4>>, cn::dense<2>>;
    cn::data::dataset<cn::data::label<2>, cn::shape<4>> const data{std::vector<float>(8),
                                                                   std::vector<int>{0, 1}};
    cn::model<repeated, cn::policy::cpu, cn::batch<2>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    double flops = 0;
    for (auto const& row : cn::profile(training, data, std::vector<std::size_t>{0, 1}, 1)) {
        flops += row.what.find("matmul_") != std::string::npos ? row.flops : 0;
    }
    // of two samples; the first layer needs no gradient with respect to its input
    double const of_four = 2 * 4 * 4, of_two = 2 * 4 * 2;
    CHECK(flops == 2 * (of_four + 3 * 2 * of_four + 2 * of_two));
}

TEST_CASE("a fit that is profiled is the fit that is not") {
    using normalised = cn::sequential<cn::input<1, 8, 8>, cn::conv2d<4, 3>, cn::batch_norm,
                                      cn::relu, cn::flatten, cn::dropout<0.5F>, cn::dense<3>>;
    std::vector<float> pixels;
    for (std::uint32_t i = 0; i < 6 * 64; ++i) {
        pixels.push_back(cn::uniform<float>(cn::philox({i, 0, 0, 0}, {1, 2}).x0));
    }
    cn::data::dataset<cn::data::label<3>, cn::shape<1, 8, 8>> const data{
        pixels, std::vector<int>{0, 1, 2, 0, 1, 2}};
    std::vector<std::size_t> const samples{5, 1};
    auto const losses = [&](bool profiled) {
        cn::model<normalised, cn::policy::cpu, cn::batch<4>> model;
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
        int reports = 0;
        auto const history = training.fit(
            data, {.epochs = 3,
                   .validation = data,
                   .verbose = cn::verbosity::silent,
                   .on_epoch_end = [&](cn::epoch_report&) {
                       if (profiled) {
                           reports +=
                               !cn::profile_table(cn::profile(training, data, samples, 1)).empty();
                       }
                   }});
        CHECK(reports == (profiled ? 3 : 0));
        return std::pair{history["loss"], history["val_loss"]};
    };
    CHECK(losses(true) == losses(false));
}
