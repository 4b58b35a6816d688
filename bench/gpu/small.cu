// The networks whose steps take microseconds.
#include <castnet/cuda.hpp>

#include "benchmarks.hpp"

namespace {

using namespace bench;
using where = cn::policy::cuda;

add_benchmark const tiny{"tiny_mlp/128", train<tiny_mlp, where, 128, 256>};
add_benchmark const wide{"wide_mlp/128", train<wide_mlp, where, 128, 64>};
add_benchmark const images{"convnet/128", train<convnet, where, 128, 64>};
add_benchmark const more_images{"convnet/512", train<convnet, where, 512, 64>};
add_benchmark const dropout{"dropout_cnn/128", train<dropout_cnn, where, 128, 64>};

} // namespace
