// Step of a random network, for compare.py: `program check` writes parameters and predictions
// before and after a step; `program time` prints how many milliseconds a step takes.
#include <castnet/castnet.hpp>

#include "network.hpp" // network, dataset, batch and policy, by compare.py

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

std::vector<float> floats(char const* file, size_t count) {
    std::vector<float> x(count);
    std::ifstream in{file, std::ios::binary};
    if (!in.read(reinterpret_cast<char*>(x.data()), std::streamsize(count * sizeof(float)))) {
        throw cn::error(std::string("random_networks: cannot read ") + file);
    }
    return x;
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

} // namespace

int main(int, char** argv) {
    dataset const data{floats("x.bin", batch * dataset::input_shape<0>::count),
                       floats("y.bin", batch * output::count)};
    cn::model<network, policy, cn::batch<batch>> model{cn::seed{1}};
    std::vector<size_t> samples(batch);
    std::iota(samples.begin(), samples.end(), size_t{0});

    if (std::strcmp(argv[1], "check") == 0) {
        auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 1});
        std::ofstream numbers{"numbers.bin", std::ios::binary};
        cn::save(model, "before.safetensors");
        write(numbers, model.predict(data));
        write(numbers, std::vector<double>{training.step(data, samples).loss()});
        write(numbers, model.predict(data));
        cn::save(model, "after.safetensors");
    } else {
        auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 1e-5});
        std::vector<double> times;
        training.step(data, samples);
        for (double const begin = seconds(); seconds() < begin + 0.5 || times.size() < 3;) {
            double const start = seconds();
            training.step(data, samples);
            times.push_back(seconds() - start);
        }
        std::sort(times.begin(), times.end());
        std::printf("%.5f\n", 1e3 * times[times.size() / 4]);
    }
}
