// Training steps in float, and with products of bfloat16, to be run in turns:
//   bench_bf16 --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
#include <castnet/zoo/resnet.hpp>

#include "training.hpp"

#include <string>

namespace {

using namespace bench;

struct resnet50 {
    using network = cn::zoo::resnet50;
    using dataset = cn::data::dataset<cn::data::label<1000>, cn::shape<3, 224, 224>>;
    static constexpr auto loss = cn::cross_entropy;
};

using bf16 = cn::policy::bf16<cn::policy::cpu>;

template <class What, size_t Batch>
void compare(char const* name) {
    std::string const batch = std::string(name) + "/batch:" + std::to_string(Batch);
    benchmark::RegisterBenchmark((batch + "/float").c_str(), train<What, Batch>)->Apply(settings);
    benchmark::RegisterBenchmark((batch + "/bf16").c_str(), train<What, Batch, plain_adam, bf16>)
        ->Apply(settings);
}

[[maybe_unused]] bool const all = [] {
    compare<convnet, 128>("convnet");
    compare<wide_mlp, 128>("wide_mlp");
    compare<gpt, 8>("gpt");
    compare<vgg16_convolutions, 8>("vgg16_convolutions");
    compare<resnet50, 8>("resnet50");
    return true;
}();

} // namespace
