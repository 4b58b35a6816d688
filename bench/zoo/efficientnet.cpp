// Training steps of EfficientNet-B0.
#include <castnet/zoo/efficientnet.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::efficientnet_b0_of<images, 1000>>, 8>)
    ->Name("efficientnet_b0/batch:8")
    ->Apply(settings);

} // namespace
