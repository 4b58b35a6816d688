// The order of parameters on the GPU.
#include <castnet/device/cuda/layout.hpp>

#include <doctest/doctest.h>

namespace cn = castnet;

TEST_CASE("weights lie as (filters, height, width, channels)") {
    cn::parameter p;
    p.kind = cn::role::conv_weight;
    p.shape = {4, {4, 3, 2, 5}}; // 4 filters, each over 3 of 6 channels
    int logical = 0;
    for (int f = 0; f < 4; ++f) {
        for (int c = 0; c < 3; ++c) {
            for (int h = 0; h < 2; ++h) {
                for (int w = 0; w < 5; ++w) {
                    CHECK(cn::cuda::place_in_parameter(logical++, p) ==
                          ((f * 2 + h) * 5 + w) * 3 + c);
                }
            }
        }
    }
}
