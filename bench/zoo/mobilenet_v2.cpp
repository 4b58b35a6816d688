// Training steps of MobileNetV2.
#include <castnet/zoo/mobilenet_v2.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::mobilenet_v2_of<images, 1000>>, 8>)
    ->Name("mobilenetv2/batch:8")
    ->Apply(settings);

} // namespace
