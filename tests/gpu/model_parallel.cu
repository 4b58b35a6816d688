// One network on several devices: GPUs, or one GPU that is all of them.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "../model_parallel.hpp"

#include <cstdio>
#include <doctest/doctest.h>

namespace cn = castnet;
using check::largest_difference;

namespace {

using gpu = cn::policy::basic_cuda<double>;
using three = cn::policy::model_parallel<gpu, 3>;
using three_eagerly = cn::policy::model_parallel<cn::policy::eager<gpu>, 3>;

using encoder = cn::block_layer<cn::conv2d<6, 3>, cn::batch_norm, cn::relu, cn::max_pool2d<2>,
                                cn::flatten, cn::dense<12>>;
struct siamese {
    static constexpr auto encode = cn::shared<"encoder", encoder{}>;
    constexpr auto operator()(auto a, auto b) const {
        return cn::concat(a | cn::on<0, encode>, b | cn::on<1, encode>) |
               cn::on<2, cn::dense<8>.l2(1e-3F), cn::relu, cn::dropout<0.2F>, cn::dense<3>>;
    }
};
using network = cn::network<siamese{}, cn::input<1, 10, 10>, cn::input<1, 10, 10>>;
// Parameters, predictions and scores of a fit.
template <class Policy>
std::vector<double> after_fit(cn::devices const& chosen = {}) {
    return model_parallel_test::after_fit<network, Policy>(cn::clip_norm(cn::adam{}, 1), chosen);
}

} // namespace

TEST_CASE("three devices on one GPU take the steps of one") {
    auto const expected = after_fit<gpu>();
    cn::devices const same{0, 0, 0};
    CHECK(largest_difference(after_fit<three>(same), expected) < 1e-9);
    CHECK(after_fit<three_eagerly>(same) == after_fit<three>(same));
}

TEST_CASE("several GPUs take the steps of one") {
    int const count = castnet::cuda::device_count();
    if (count < 2) {
        std::printf("skipped: one GPU is visible\n");
        return;
    }
    cn::devices const two{0, 1, 0}, all{0, 1, count > 2 ? 2 : 1};
    auto const expected = after_fit<three>(cn::devices{0, 0, 0});
    CHECK(after_fit<three>(two) == expected);
    CHECK(after_fit<three>(all) == expected);
    CHECK(after_fit<three_eagerly>(all) == expected);
}
