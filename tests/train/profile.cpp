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

    REQUIRE(rows.size() == std::size_t(training.training_plan.sizes.steps));
    double flops = 0;
    int fused = 0, convolutions = 0;
    for (auto const& row : rows) {
        CHECK(row.seconds >= 0);
        CHECK(row.bytes > 0);
        flops += row.flops;
        fused += row.what == "map add relu";
        convolutions += row.what == "conv";
    }
    CHECK(fused == 1);
    CHECK(convolutions == 1);
    CHECK(flops > 6 * 2.0 * 36 * 4 * 9); // the forward convolution alone
    CHECK(flops <= 6 * double(training.flops_per_sample));
    CHECK(model.get("0.weight") == before);
    CHECK(training.steps() == 0);
    CHECK(cn::profile_table(rows).find("map add relu") != std::string::npos);
}
