// Training steps of a U-Net, with one class for each pixel of 128 x 128.
#include <castnet/zoo/unet.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

struct wide_unet {
    using network = cn::zoo::unet<cn::input<3, 128, 128>, 1>;
    using dataset = cn::data::dataset<cn::shape<1, 128, 128>, cn::shape<3, 128, 128>>;
    static constexpr auto loss = cn::binary_cross_entropy;
};

BENCHMARK(train<wide_unet, 4>)->Name("wide_unet/batch:4")->Apply(settings);

} // namespace
