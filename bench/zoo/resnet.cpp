// Training steps of ResNets of basic blocks, for ImageNet and for CIFAR.
#include <castnet/zoo/resnet.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::resnet18_cifar, 10>, 8>)
    ->Name("resnet18_cifar/batch:8")
    ->Apply(settings);
BENCHMARK(train<classifier<cn::zoo::resnet18_of<images, 1000>>, 8>)
    ->Name("resnet18/batch:8")
    ->Apply(settings);
BENCHMARK(train<classifier<cn::zoo::resnet34_of<images, 1000>>, 8>)
    ->Name("resnet34/batch:8")
    ->Apply(settings);

} // namespace
