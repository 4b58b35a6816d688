// Training steps and predictions of dlib on the CPU, with the networks and names of bench_training
// and bench_inference.
#include "peer.hpp"

#include <dlib/dnn.h>
#include <dlib/revision.h>

namespace {

using namespace bench;

[[maybe_unused]] bool const named =
    name_library("dlib " + std::to_string(DLIB_MAJOR_VERSION) + "." +
                 std::to_string(DLIB_MINOR_VERSION) + "." + std::to_string(DLIB_PATCH_VERSION));

template <long Filters, class Below>
using conv = dlib::relu<dlib::add_layer<dlib::con_<Filters, 3, 3, 1, 1, 0, 0>, Below>>;

template <class Below>
using pool = dlib::max_pool<2, 2, 2, 2, Below>;

template <unsigned long Units, class Below>
using dense = dlib::relu<dlib::fc<Units, Below>>;

struct dropout_quarter : dlib::dropout_ {
    dropout_quarter() : dlib::dropout_{0.25F} {}
};

struct classification {
    static std::vector<unsigned long> targets(std::size_t count) {
        std::vector<int> const labels = random_labels(count);
        return {labels.begin(), labels.end()};
    }
};

struct regression {
    static std::vector<float> targets(std::size_t count) { return random_numbers(count); }
};

struct convnet : classification {
    using sample = dlib::matrix<float, 28, 28>;
    using network = dlib::loss_multiclass_log<
        dlib::fc<10, dense<64, conv<64, pool<conv<64, pool<conv<32, dlib::input<sample>>>>>>>>>;
};

struct dropout_cnn : classification {
    using sample = dlib::matrix<float, 28, 28>;
    using network = dlib::loss_multiclass_log<dlib::fc<
        10,
        dlib::dropout<dense<128, dlib::add_layer<dropout_quarter,
                                                 pool<conv<64, conv<32, dlib::input<sample>>>>>>>>>;
};

struct wide_mlp : classification {
    using sample = dlib::matrix<float, 784, 1>;
    using network =
        dlib::loss_multiclass_log<dlib::fc<10, dense<512, dense<512, dlib::input<sample>>>>>;
};

struct tiny_mlp : regression {
    using sample = dlib::matrix<float, 13, 1>;
    using network = dlib::loss_mean_squared<dlib::fc<1, dense<32, dense<16, dlib::input<sample>>>>>;
};

template <class Sample>
std::vector<Sample> random_samples(std::size_t count) {
    std::vector<Sample> samples(count);
    std::vector<float> const numbers = random_numbers(count * std::size_t(samples[0].size()));
    auto next = numbers.begin();
    for (Sample& sample : samples) {
        std::copy_n(next, sample.size(), sample.begin());
        next += sample.size();
    }
    return samples;
}

// A step copies its batch from the samples, as dlib's trainer does.
template <class What, std::size_t Batch>
struct trainer {
    typename What::network network;
    std::vector<dlib::adam> optimizers{What::network::num_computational_layers,
                                       dlib::adam{0, 0.9F, 0.999F}};
    decltype(random_samples<typename What::sample>(0)) samples =
        random_samples<typename What::sample>(batches * Batch);
    decltype(What::targets(0)) targets = What::targets(batches * Batch);
    dlib::resizable_tensor batch;

    double step(std::size_t i) {
        auto const first = std::ptrdiff_t(i % batches * Batch);
        network.to_tensor(samples.begin() + first, samples.begin() + first + Batch, batch);
        double const loss = network.compute_parameter_gradients(batch, targets.begin() + first);
        network.update_parameters(optimizers, 0.001);
        return loss;
    }
};

template <class What, std::size_t Batch>
void train(benchmark::State& state) {
    use_threads(int(state.range(0)));
    trainer<What, Batch> training;
    static bool const trains = lowers_loss([&] { return training.step(0); });
    if (!trains) {
        state.SkipWithError(not_training);
    }
    training.step(0);
    std::size_t i = 0;
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(training.step(++i));
    }
    count_samples(state, Batch);
}

template <class What>
void predict(benchmark::State& state) {
    use_threads(1);
    typename What::network network;
    auto const sample = random_samples<typename What::sample>(1)[0];
    network(sample);
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(network(sample));
    }
}

BENCHMARK(train<convnet, 32>)->Name("convnet/batch:32")->Apply(training_settings);
BENCHMARK(train<convnet, 128>)->Name("convnet/batch:128")->Apply(training_settings);
BENCHMARK(train<convnet, 512>)->Name("convnet/batch:512")->Apply(training_settings);
BENCHMARK(train<dropout_cnn, 128>)->Name("dropout_cnn/batch:128")->Apply(training_settings);
BENCHMARK(train<wide_mlp, 128>)->Name("wide_mlp/batch:128")->Apply(training_settings);
BENCHMARK(train<tiny_mlp, 128>)->Name("tiny_mlp/batch:128")->Apply(training_settings);
BENCHMARK(predict<tiny_mlp>)->Name("tiny_mlp/predict");
BENCHMARK(predict<convnet>)->Name("convnet/predict");

} // namespace
