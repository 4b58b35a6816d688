// Training steps of an MLP-Mixer.
#include <castnet/zoo/mixer.hpp>

#include "zoo.hpp"

namespace {

using namespace bench;

BENCHMARK(train<classifier<cn::zoo::mixer_s16_of<images, 1000>>, 8>)
    ->Name("mixer_s16/batch:8")
    ->Apply(settings);

} // namespace
