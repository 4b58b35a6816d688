// Time to predict a single sample, in a model that was planned for one, on one thread and on two.
#include <castnet/zoo/resnet.hpp>

#include "networks.hpp"

#include <benchmark/benchmark.h>

namespace {

using namespace bench;

struct resnet50 {
    using network = cn::zoo::resnet50;
};

struct mlp_2048 {
    using network = cn::sequential<cn::input<2048>, cn::dense<2048>, cn::relu, cn::dense<2048>,
                                   cn::relu, cn::dense<10>>;
};

// U-Net (Ronneberger et al. 2015) with three steps down, on images of 128 x 128 pixels.
struct unet {
    template <size_t Filters>
    static constexpr auto conv =
        cn::block<cn::conv2d<Filters, 3, cn::conv{.padding = 1}>.no_bias().init(cn::he_normal),
                  cn::batch_norm, cn::relu>;
    template <size_t Filters>
    static constexpr auto twice = cn::block<conv<Filters>, conv<Filters>>;
    // Two convolutions, beside them the steps below, and two convolutions of both.
    template <size_t Filters, auto Below>
    struct level {
        constexpr auto operator()(auto x) const {
            auto const beside = x | twice<Filters>;
            auto const below =
                beside | cn::max_pool2d<2> | Below | cn::upsample2d<2> | conv<Filters>;
            return cn::concat(beside, below) | twice<Filters>;
        }
    };
    using network =
        cn::sequential<cn::input<3, 128, 128>, level<32, level<64, level<128, twice<256>>{}>{}>{},
                       cn::conv2d<1, 1>>;
};

// The first two dense blocks of DenseNet-121 (Huang et al. 2017) on images of 112 x 112 pixels.
struct densenet {
    template <size_t Filters, size_t Kernel>
    static constexpr auto norm_conv =
        cn::block<cn::batch_norm, cn::relu,
                  cn::conv2d<Filters, Kernel, cn::conv{.padding = Kernel / 2}>.no_bias().init(
                      cn::he_normal)>;
    template <size_t Layers>
    struct dense_block {
        constexpr auto operator()(auto x) const {
            auto const wider = cn::concat(x, x | norm_conv<128, 1> | norm_conv<32, 3>);
            if constexpr (Layers > 1) {
                return wider | dense_block<Layers - 1>{};
            } else {
                return wider;
            }
        }
    };
    using network = cn::sequential<
        cn::input<3, 112, 112>, cn::conv2d<64, 7, cn::conv{.stride = 2, .padding = 3}>.no_bias(),
        cn::batch_norm, cn::relu, cn::max_pool2d<3, cn::pooling{.stride = 2, .padding = 1}>,
        dense_block<6>{}, norm_conv<128, 1>, cn::avg_pool2d<2>, dense_block<12>{}, cn::batch_norm,
        cn::relu, cn::global_avg_pool2d, cn::dense<1000>>;
};

template <class What>
void predict(benchmark::State& state) {
    use_threads(int(state.range(0)));
    using model = cn::model<typename What::network, cn::policy::cpu, cn::batch<1>>;
    model m{cn::seed{42}};
    cn::predictor predict_with{m};
    cn::data::detail::random_stream random{0x62656e63, 42, 0};
    using input = cn::detail::nth_of<0, typename What::network::inputs>;
    using output = cn::detail::nth_of<0, typename model::output_shapes>;
    std::vector<float> x(input::count), y(output::count);
    for (float& number : x) {
        number = float(random.uniform());
    }
    predict_with.predict_one(x.data(), y.data()); // allocates, and prepares the parameters
    for ([[maybe_unused]] auto _ : state) {
        predict_with.predict_one(x.data(), y.data());
        benchmark::ClobberMemory();
    }
}

void on_threads(benchmark::internal::Benchmark* b) {
    b->ArgName("threads")->DenseRange(1, most_threads)->UseRealTime();
}

BENCHMARK(predict<tiny_mlp>)->Name("tiny_mlp/predict")->ArgName("threads")->Arg(1)->UseRealTime();
BENCHMARK(predict<convnet>)->Name("convnet/predict")->Apply(on_threads);
BENCHMARK(predict<mlp_2048>)->Name("mlp_2048/predict")->Apply(on_threads);
BENCHMARK(predict<mobilenetv2>)->Name("mobilenetv2/predict")->Apply(on_threads);
BENCHMARK(predict<densenet>)->Name("densenet/predict")->Apply(on_threads);
BENCHMARK(predict<unet>)->Name("unet/predict")->Apply(on_threads);
BENCHMARK(predict<resnet50>)->Name("resnet50/predict")->Apply(on_threads);

} // namespace
