// A model, no measurement: how the training step of ResNet-50 would scale to many GPUs, from the
// exact bytes of its plan and the constants below.
#include <castnet/castnet.hpp>
#include <castnet/train/communication_report.hpp>
#include <castnet/zoo/resnet.hpp>

#include <cstdio>

namespace {

namespace cn = castnet;

template <class... Options>
struct gpus : cn::policy::cpu { // only the plan and the sizes are looked at
    using strategies = cn::detail::strategies<Options...>;
};
template <class... Options>
using report = cn::communication_report<decltype(cn::compile(
    std::declval<cn::model<cn::zoo::resnet50, gpus<Options...>, cn::batch<64>>&>(),
    cn::cross_entropy, cn::momentum{}))>;

// Of a GPU's step: floating-point operations per second that it keeps up, and samples.
constexpr double flops = 50e12, batch = 64;
// Between GPUs: 25 Gbit/s and 12 µs a message, and 400 Gbit/s and 5 µs.
constexpr cn::connection ethernet{12e-6, 25e9 / 8}, fast{5e-6, 400e9 / 8};

} // namespace

int main() {
    using synchronised = report<>;
    using local = report<cn::strategy::local_batch_norm>;
    using rounded = report<cn::strategy::local_batch_norm, cn::strategy::bfloat16_gradients>;
    std::printf(
        "Constants: %.0f TFLOP/s and %.0f samples a step for each GPU; %d collectives of %.1f "
        "MB together (local batch normalisation: %d of %.1f MB; gradients in bfloat16: %d of "
        "%.1f MB).\n\n",
        flops / 1e12, batch, synchronised::collectives, double(synchronised::bytes) / 1e6,
        local::collectives, double(local::bytes) / 1e6, rounded::collectives,
        double(rounded::bytes) / 1e6);
    std::printf(
        "| GPUs (model) | 25 Gb/s | local batch norm | and bfloat16 | 400 Gb/s | local batch "
        "norm | and bfloat16 |\n|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int n = 1; n <= 4096; n *= 2) {
        std::printf("| %d ", n);
        for (auto const& c : {ethernet, fast}) {
            for (double const e :
                 {synchronised::efficiency(n, batch, flops, c),
                  local::efficiency(n, batch, flops, c), rounded::efficiency(n, batch, flops, c)}) {
                std::printf("| %.1f %% ", 100 * e);
            }
        }
        std::printf("|\n");
    }
    return 0;
}
