// A strategy that works on the memory of the host.
// expect: castnet: with policy::host_reduction and policy::logical on a GPU, of the strategies there are all_reduce, accumulate
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

using where = cn::policy::logical<cn::policy::cuda, 2, cn::strategy::sharded_optimizer>;
cn::model<cn::sequential<cn::input<3>, cn::dense<4>>, where, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
std::size_t const samples[] = {0};
using data_set = cn::data::dataset<cn::data::label<4>, cn::shape<3>>;
double step(data_set const& data) {
    return training.step(data, samples).loss();
}
