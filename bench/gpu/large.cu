// Networks for images of 224 x 224.
#include <castnet/cuda.hpp>
#include <castnet/zoo/resnet.hpp>
#include <castnet/zoo/vgg.hpp>

#include "benchmarks.hpp"

namespace {

using namespace bench;

template <class Network>
struct imagenet {
    using network = Network;
    using dataset = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 224, 224>>;
    static constexpr auto loss = cn::cross_entropy;
};
using where = cn::policy::cuda;

add_benchmark const vgg16{"vgg16/64", train<imagenet<cn::zoo::vgg16>, where, 64, 4>};
add_benchmark const resnet50{"resnet50/128", train<imagenet<cn::zoo::resnet50>, where, 128, 4>};

} // namespace
