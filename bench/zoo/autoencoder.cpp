// Training steps of the autoencoder, of its own grey images.
#include <castnet/zoo/autoencoder.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

struct autoencoder {
    using network = cn::zoo::autoencoder;
    using dataset = cn::data::dataset<cn::shape<1, 28, 28>, cn::shape<1, 28, 28>>;
    static constexpr auto loss = cn::binary_cross_entropy;
};

BENCHMARK(train<autoencoder, 128>)->Name("autoencoder/batch:128")->Apply(settings);

} // namespace
