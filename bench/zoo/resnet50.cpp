// Training steps of ResNet-50.
#include <castnet/zoo/resnet.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::resnet50_of<images, 1000>>, 8>)
    ->Name("resnet50/batch:8")
    ->Apply(settings);

} // namespace
