// Training steps of Xception.
#include <castnet/zoo/xception.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::xception_of<images, 1000>>, 8>)
    ->Name("xception/batch:8")
    ->Apply(settings);

} // namespace
