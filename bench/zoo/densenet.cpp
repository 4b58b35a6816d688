// Training steps of DenseNet-121.
#include <castnet/zoo/densenet.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::densenet121_of<images, 1000>>, 8>)
    ->Name("densenet121/batch:8")
    ->Apply(settings);

} // namespace
