// layer_norm, rms_norm, group_norm and instance_norm against PyTorch and finite differences.
#include <castnet/nn/containers.hpp>
#include <castnet/nn/group_norm.hpp>
#include <castnet/nn/layer_norm.hpp>
#include <castnet/nn/local_response_norm.hpp>
#include <castnet/nn/reshape.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_finite_differences, check::run_of, cn::row_major_shape, cn::shape;

namespace {

void like_torch(check::layer_run r, std::string const& name) {
    check::against_golden(std::move(r), name, 1e-12, "normalization");
}

// Each row of a tensor of three axes that is no image.
struct normalized_heads {
    constexpr auto operator()(auto x) const {
        return x | cn::reshape_to<row_major_shape<2, 3, 4>> | cn::layer_norm | cn::group_norm<2>;
    }
};

} // namespace

TEST_CASE("layer_norm over the features or the whole sample") {
    like_torch(run_of<cn::layer_norm, shape<5, 6>>(), "layer_norm");
    like_torch(run_of<cn::layer_norm, shape<7>>(), "layer_norm_features");
    like_torch(run_of<cn::layer_norm.over_all_axes(), shape<6, 3, 4>>(), "layer_norm_image");
    like_torch(run_of<cn::layer_norm, shape<5, 6>, false>(), "layer_norm");
}

TEST_CASE("rms_norm") {
    like_torch(run_of<cn::rms_norm.with_epsilon(1e-6), shape<5, 6>>(), "rms_norm");
}

TEST_CASE("group_norm over the pixels and the channels of a group") {
    like_torch(run_of<cn::group_norm<2>, shape<6, 3, 4>>(), "group_norm_2");
    like_torch(run_of<cn::group_norm<1>, shape<6, 3, 4>>(), "group_norm_1");
    like_torch(run_of<cn::group_norm<3>, shape<6>>(), "group_norm_features");
}

TEST_CASE("instance_norm, with and without parameters") {
    like_torch(run_of<cn::instance_norm.affine(), shape<6, 3, 4>>(), "instance_norm");
    like_torch(run_of<cn::instance_norm, shape<6, 3, 4>>(), "instance_norm_plain");
}

TEST_CASE("local_response_norm of images, and of an even number of features") {
    like_torch(run_of<cn::local_response_norm<5>.with_alpha(0.3).with_k(2), shape<6, 3, 4>>(),
               "local_response_norm_5");
    like_torch(run_of<cn::local_response_norm<4>.with_alpha(2).with_beta(1.5), shape<6, 5>>(),
               "local_response_norm_4");
}

TEST_CASE("gradients of normalisations") {
    against_finite_differences(
        run_of<cn::local_response_norm<3>.with_alpha(1), shape<2, 2, 1, 2>>(), 1e-6);
    against_finite_differences(run_of<cn::local_response_norm<7>.with_alpha(1), shape<4>>(), 1e-6);
    against_finite_differences(run_of<cn::local_response_norm<1>, shape<4>>(), 1e-6);
    against_finite_differences(run_of<cn::layer_norm, shape<4, 2, 3>>(), 1e-6);
    against_finite_differences(run_of<cn::layer_norm.no_bias(), shape<3, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::layer_norm.no_affine(), shape<3, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::layer_norm.over_all_axes(), shape<3, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::rms_norm, shape<4, 2, 3>>(), 1e-6);
    against_finite_differences(run_of<cn::rms_norm.over_all_axes().no_affine(), shape<5>>(), 1e-6);
    against_finite_differences(run_of<cn::group_norm<2>, shape<3, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::group_norm<4>.no_affine(), shape<8, 2, 1>>(), 1e-6);
    against_finite_differences(run_of<cn::instance_norm, shape<5, 3>>(), 1e-6);
    against_finite_differences(run_of<normalized_heads{}, shape<6, 4>>(), 1e-6);
    against_finite_differences(run_of<cn::frozen<cn::layer_norm, cn::group_norm<2>>, shape<3, 4>>(),
                               1e-6);
}

TEST_CASE("a mean that is large beside the deviations costs no digits of the variance") {
    auto r = run_of<cn::layer_norm.with_epsilon(0).no_affine(), shape<2>, true, 1>();
    r.set_input({1e8 - 1, 1e8 + 1});
    r.set_grad_output({1, 0});
    r.run();
    check::close("output", r.output(), {-1, 1}, 1e-12);
}
