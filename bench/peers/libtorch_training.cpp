// Training steps and predictions of libtorch on the CPU, with the networks and names of
// bench_training and bench_inference.
#include "peer.hpp"

#include <torch/torch.h>

namespace {

namespace nn = torch::nn;
using namespace bench;

[[maybe_unused]] bool const named = name_library("libtorch " TORCH_VERSION);

nn::Conv2d conv(int from, int to) {
    return nn::Conv2d{nn::Conv2dOptions{from, to, 3}};
}
nn::MaxPool2d pool() {
    return nn::MaxPool2d{nn::MaxPool2dOptions{2}};
}

struct classification {
    static constexpr bool slow = false; // a step takes seconds
    static torch::Tensor targets(std::int64_t count) {
        return torch::randint(10, {count}, torch::kLong);
    }
    static torch::Tensor loss(torch::Tensor const& output, torch::Tensor const& target) {
        return nn::functional::cross_entropy(output, target);
    }
};

struct regression {
    static constexpr bool slow = false;
    static torch::Tensor targets(std::int64_t count) { return torch::rand({count, 1}); }
    static torch::Tensor loss(torch::Tensor const& output, torch::Tensor const& target) {
        return nn::functional::mse_loss(output, target);
    }
};

struct convnet : classification {
    static torch::Tensor samples(std::int64_t count) { return torch::rand({count, 1, 28, 28}); }
    static nn::Sequential network() {
        return nn::Sequential(conv(1, 32), nn::ReLU{}, pool(), conv(32, 64), nn::ReLU{}, pool(),
                              conv(64, 64), nn::ReLU{}, nn::Flatten{}, nn::Linear{576, 64},
                              nn::ReLU{}, nn::Linear{64, 10});
    }
};

struct dropout_cnn : classification {
    static torch::Tensor samples(std::int64_t count) { return convnet::samples(count); }
    static nn::Sequential network() {
        return nn::Sequential(conv(1, 32), nn::ReLU{}, conv(32, 64), nn::ReLU{}, pool(),
                              nn::Dropout{0.25}, nn::Flatten{}, nn::Linear{9216, 128}, nn::ReLU{},
                              nn::Dropout{0.5}, nn::Linear{128, 10});
    }
};

struct vgg16_convolutions : classification {
    static constexpr bool slow = true;
    static torch::Tensor samples(std::int64_t count) { return torch::rand({count, 3, 224, 224}); }
    static nn::Sequential network() {
        nn::Sequential all;
        int from = 3;
        for (int to :
             {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0}) {
            if (to == 0) {
                all->push_back(pool());
            } else {
                all->push_back(nn::Conv2d{nn::Conv2dOptions{from, to, 3}.padding(1)});
                all->push_back(nn::ReLU{});
                from = to;
            }
        }
        all->push_back(nn::AdaptiveAvgPool2d{1});
        all->push_back(nn::Flatten{});
        all->push_back(nn::Linear{512, 10});
        return all;
    }
};

struct wide_mlp : classification {
    static torch::Tensor samples(std::int64_t count) { return torch::rand({count, 784}); }
    static nn::Sequential network() {
        return nn::Sequential(nn::Linear{784, 512}, nn::ReLU{}, nn::Linear{512, 512}, nn::ReLU{},
                              nn::Linear{512, 10});
    }
};

struct tiny_mlp : regression {
    static torch::Tensor samples(std::int64_t count) { return torch::rand({count, 13}); }
    static nn::Sequential network() {
        return nn::Sequential(nn::Linear{13, 16}, nn::ReLU{}, nn::Linear{16, 32}, nn::ReLU{},
                              nn::Linear{32, 1});
    }
};

// Sets the threads of libtorch's operators as well.
void use_all_threads(int count) {
    use_threads(count);
    torch::set_num_threads(count);
}

template <class What, std::size_t Batch>
struct trainer {
    nn::Sequential network = What::network();
    torch::optim::Adam optimizer{network->parameters()};
    torch::Tensor samples = What::samples(batches * Batch);
    torch::Tensor targets = What::targets(batches * Batch);
    std::vector<torch::Tensor> order = torch::randperm(batches * Batch).split(Batch);

    torch::Tensor step(std::size_t i) {
        torch::Tensor const& which = order[i % batches];
        optimizer.zero_grad();
        torch::Tensor loss = What::loss(network->forward(samples.index_select(0, which)),
                                        targets.index_select(0, which));
        loss.backward();
        optimizer.step();
        return loss;
    }
};

template <class What, std::size_t Batch>
void train(benchmark::State& state) {
    use_all_threads(int(state.range(0)));
    torch::manual_seed(42);
    trainer<What, Batch> training;
    static bool const trains =
        What::slow || lowers_loss([&] { return training.step(0).template item<double>(); });
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
    use_all_threads(1);
    torch::InferenceMode const no_gradients;
    nn::Sequential network = What::network();
    network->eval();
    torch::Tensor const sample = What::samples(1);
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(network->forward(sample));
    }
}

BENCHMARK(train<convnet, 32>)->Name("convnet/batch:32")->Apply(training_settings);
BENCHMARK(train<convnet, 128>)->Name("convnet/batch:128")->Apply(training_settings);
BENCHMARK(train<convnet, 512>)->Name("convnet/batch:512")->Apply(training_settings);
BENCHMARK(train<dropout_cnn, 128>)->Name("dropout_cnn/batch:128")->Apply(training_settings);
BENCHMARK(train<vgg16_convolutions, 8>)
    ->Name("vgg16_convolutions/batch:8")
    ->Apply(training_settings);
BENCHMARK(train<wide_mlp, 128>)->Name("wide_mlp/batch:128")->Apply(training_settings);
BENCHMARK(train<tiny_mlp, 128>)->Name("tiny_mlp/batch:128")->Apply(training_settings);
BENCHMARK(predict<tiny_mlp>)->Name("tiny_mlp/predict");
BENCHMARK(predict<convnet>)->Name("convnet/predict");

} // namespace
