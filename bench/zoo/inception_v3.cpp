// Training steps of Inception-v3.
#include <castnet/zoo/inception_v3.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::inception_v3_of<images, 1000>>, 8>)
    ->Name("inception_v3/batch:8")
    ->Apply(settings);

} // namespace
