// conv2d against PyTorch: outputs, and gradients with respect to input, weight and bias.
#include <castnet/nn/conv2d.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_golden, check::run_of, cn::conv, cn::conv2d, cn::shape, cn::size2;

TEST_CASE("kernels without padding") {
    against_golden(run_of<conv2d<8, 3>, shape<3, 8, 9>>(), "conv2d_3x3");
    against_golden(run_of<conv2d<16, 3>, shape<1, 8, 9>>(), "conv2d_one_channel");
    against_golden(run_of<conv2d<8, size2{3, 5}>, shape<3, 8, 9>>(), "conv2d_kernel3x5");
    against_golden(run_of<conv2d<16, 1>, shape<3, 6, 7>>(), "conv2d_1x1");
    static constexpr auto without_bias = conv2d<8, 3>.no_bias(); // nvcc wants it named
    against_golden(run_of<without_bias, shape<3, 7, 8>>(), "conv2d_no_bias");
}

TEST_CASE("padding") {
    against_golden(run_of<conv2d<8, 3, conv{.padding = 1}>, shape<3, 7, 8>>(), "conv2d_pad1");
    against_golden(run_of<conv2d<8, 3, conv{.padding = {1, 2}}>, shape<3, 7, 6>>(),
                   "conv2d_pad1x2");
    against_golden(run_of<conv2d<8, size2{3, 5}, conv{.padding = cn::same}>, shape<3, 7, 8>>(),
                   "conv2d_same_kernel3x5");
    against_golden(run_of<conv2d<8, 2, conv{.padding = cn::same}>, shape<3, 6, 7>>(),
                   "conv2d_same_kernel2");
    against_golden(run_of<conv2d<10, 4, conv{.padding = cn::same}>, shape<3, 7, 8>>(),
                   "conv2d_same_kernel4");
}

TEST_CASE("strides") {
    against_golden(run_of<conv2d<10, 3, conv{.stride = 2}>, shape<3, 9, 8>>(), "conv2d_stride2");
    against_golden(run_of<conv2d<8, 3, conv{.stride = 2, .padding = 1}>, shape<3, 8, 9>>(),
                   "conv2d_stride2_pad1");
    against_golden(run_of<conv2d<8, 1, conv{.stride = 2}>, shape<3, 7, 6>>(), "conv2d_1x1_stride2");
    against_golden(run_of<conv2d<16, 7, conv{.stride = 2, .padding = 3}>, shape<3, 11, 12>>(),
                   "conv2d_kernel7_stride2_pad3");
}

TEST_CASE("dilation and groups") {
    against_golden(run_of<conv2d<8, 3, conv{.dilation = 2}>, shape<3, 9, 8>>(), "conv2d_dilation2");
    against_golden(run_of<conv2d<8, 3, conv{.dilation = cn::size2{3, 1}}>, shape<3, 9, 8>>(),
                   "conv2d_dilation3x1");
    against_golden(run_of<conv2d<10, 3, conv{.padding = 1, .groups = 2}>, shape<4, 7, 8>>(),
                   "conv2d_groups2");
    against_golden(run_of<conv2d<8, 3, conv{.padding = 1, .groups = 8}>, shape<8, 7, 6>>(),
                   "conv2d_depthwise");
    against_golden(run_of<conv2d<6, 3, conv{.groups = 3}>, shape<3, 7, 6>>(),
                   "conv2d_depthwise_multiplier2");
}
