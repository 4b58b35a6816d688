// Pooling and up-sampling against PyTorch.
#include <castnet/nn/pooling.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_golden, check::run_of, cn::pooling, cn::shape;

using image = shape<3, 7, 8>;

TEST_CASE("max pooling") {
    against_golden(run_of<cn::max_pool2d<2>, image>(), "max_pool2d_2");
    against_golden(run_of<cn::max_pool2d<3, pooling{.stride = 2}>, image>(),
                   "max_pool2d_kernel3_stride2");
    against_golden(run_of<cn::max_pool2d<3, pooling{.stride = 2, .padding = 1}>, image>(),
                   "max_pool2d_kernel3_stride2_pad1");
}

TEST_CASE("average pooling") {
    against_golden(run_of<cn::avg_pool2d<2>, image>(), "avg_pool2d_2");
    against_golden(run_of<cn::avg_pool2d<3, pooling{.stride = 2}>, image>(),
                   "avg_pool2d_kernel3_stride2");
    against_golden(run_of<cn::avg_pool2d<3, pooling{.stride = 2, .padding = 1}>, image>(),
                   "avg_pool2d_kernel3_stride2_pad1_exclude_pad");
    against_golden(
        run_of<cn::avg_pool2d<3, pooling{.stride = 2, .padding = 1, .count_padding = true}>,
               image>(),
        "avg_pool2d_kernel3_stride2_pad1_include_pad");
}

TEST_CASE("pooling over the whole image") {
    against_golden(run_of<cn::global_avg_pool2d, image>(), "global_avg_pool2d");
    against_golden(run_of<cn::global_max_pool2d, image>(), "global_max_pool2d");
}

TEST_CASE("the nearest neighbour on a finer grid") {
    against_golden(run_of<cn::upsample2d<2>, shape<3, 4, 5>>(), "upsample_nearest_2");
}

TEST_CASE("of equal pixels the first has the gradient of a maximum") {
    auto r = run_of<cn::max_pool2d<2>, shape<1, 2, 2>, true, 1>();
    r.set_input({1, 3, 3, 3});
    r.set_grad_output({5});
    r.run();
    CHECK(r.output() == check::values{3});
    CHECK(r.grad_input() == check::values{0, 5, 0, 0});
}

TEST_CASE("equal pixels share the gradient of the maximum of an image") {
    auto r = run_of<cn::global_max_pool2d, shape<2, 2, 2>, true, 1>();
    r.set_input({1, 3, 3, 3, /* */ 0, 0, 7, 0});
    r.set_grad_output({6, 5});
    r.run();
    CHECK(r.output() == check::values{3, 7});
    CHECK(r.grad_input() == check::values{0, 2, 2, 2, /* */ 0, 0, 5, 0});
}

TEST_CASE("padding never wins a maximum") {
    auto r =
        run_of<cn::max_pool2d<3, pooling{.stride = 2, .padding = 1}>, shape<1, 2, 2>, true, 1>();
    r.set_input({-4, -3, -2, -1});
    r.set_grad_output({1});
    r.run();
    CHECK(r.output() == check::values{-1});
}
