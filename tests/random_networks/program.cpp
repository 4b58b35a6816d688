// Step of a random network, for compare.py: `program check` writes parameters and predictions
// before and after a step; `program time` prints how many milliseconds a step takes, on a GPU one
// of many epochs over data in its memory.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "network.hpp" // network, dataset, batch, capacity, policy, columns and by_steps, by compare.py

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

// So many numbers, a number of times.
std::vector<float> floats(char const* file, size_t count, size_t times) {
    std::vector<float> x(count * times);
    std::ifstream in{file, std::ios::binary};
    if (!in.read(reinterpret_cast<char*>(x.data()), std::streamsize(count * sizeof(float)))) {
        throw cn::error(std::string("random_networks: cannot read ") + file);
    }
    for (size_t i = count; i < x.size(); ++i) {
        x[i] = x[i - count];
    }
    return x;
}

// The numbers that a file has for each sample of a batch, a number of times.
auto column(size_t times) {
    return [times](char const* file, size_t of_sample) {
        return floats(file, batch * of_sample, times);
    };
}

dataset batches(size_t count) {
    return columns(column(count));
}

template <class T>
void write(std::ofstream& to, std::vector<T> const& numbers) {
    for (double const x : numbers) {
        to.write(reinterpret_cast<char const*>(&x), sizeof x);
    }
}

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Sorts times, and prints the first quartile in milliseconds.
void print(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    std::printf("%.5f\n", 1e3 * times[times.size() / 4]);
}

void print_time() {
    cn::model<network, policy, cn::batch<capacity>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 1e-5});
#ifdef __CUDACC__
    constexpr size_t count = 64;
    auto const data = cn::on_device(batches(count));
    auto const steps = [&] {
        training.fit(data, {.epochs = 1, .verbose = cn::verbosity::silent});
        return count;
    };
#else
    dataset const data = batches(1);
    std::vector<size_t> samples(batch);
    std::iota(samples.begin(), samples.end(), size_t{0});
    auto const steps = [&] {
        training.step(data, samples);
        return size_t{1};
    };
#endif
    std::vector<double> times;
    steps();
    for (double const begin = seconds(); seconds() < begin + 0.5 || times.size() < 3;) {
        double const start = seconds();
        auto const taken = double(steps());
        times.push_back((seconds() - start) / taken);
    }
    print(times);
}

// Predictions of the first samples, so many at once.
std::vector<double> by_counts(auto const& model) {
    std::vector<double> all;
    for (size_t const count : counts) {
        auto const some = model.predict(columns([count](char const* file, size_t of_sample) {
            return floats(file, count * of_sample, 1);
        }));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

void check() {
    dataset const data = batches(1);
    cn::model<network, policy, cn::batch<capacity>> model{cn::seed{1}};
    std::vector<size_t> samples(batch);
    std::iota(samples.begin(), samples.end(), size_t{0});
    auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 1});
    std::ofstream numbers{"numbers.bin", std::ios::binary};
    cn::save(model, "before.safetensors");
    write(numbers, model.predict(data));
    std::vector<double> steps = by_counts(model);
    auto const more = by_steps(model, column(1));
    steps.insert(steps.end(), more.begin(), more.end());
    write(numbers, std::vector<double>{training.step(data, samples).loss()});
    write(numbers, model.predict(data));
    write(numbers, steps);
    cn::save(model, "after.safetensors");
}

} // namespace

int main(int, char** argv) {
    std::strcmp(argv[1], "check") == 0 ? check() : print_time();
}
