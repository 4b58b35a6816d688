// Training steps of VGG-16 and VGG-19, whole, on images of 224 x 224.
#include <castnet/zoo/vgg.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::vgg16>, 2>)->Name("vgg16/batch:2")->Apply(settings);
BENCHMARK(train<classifier<cn::zoo::vgg19>, 2>)->Name("vgg19/batch:2")->Apply(settings);

} // namespace
