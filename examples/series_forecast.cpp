// A forecast with a recurrent cell of one's own: the next value of a series from the 48 before it.
// The cell is the minimal gated unit of Zhou et al. 2016, written as a formula; its gradient
// through time is derived by castnet. (Keras: RNN(cell); PyTorch: a loop over the steps.)
//
//   series_forecast [FILE [EPOCHS]]
//
// FILE is a CSV file, the values in a column `value`. Without one, a series with two periods that
// drift, and with noise, is made of random numbers.
#include <castnet/castnet.hpp>
#include <castnet/io/csv_table.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace cn = castnet;

constexpr std::size_t window = 48;

// f = sigmoid(W_f x + U_f h + b_f), h' = (1 - f) h + f tanh(W x + U (f h) + b)
template <std::size_t Units>
struct minimal_gated_layer {
    static constexpr char const* name = "minimal_gated";

    template <std::size_t Time, std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Time, Features>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"minimal_gated"}};
        auto const read = x | cn::named<"read", cn::dense<2 * Units>>; // of all steps at once
        auto const cell = [](auto read_t, auto h) {
            constexpr auto of_h = cn::dense<Units>.no_bias().init(cn::orthogonal());
            auto const forget = cn::sigmoid(
                (read_t | cn::slice_channels<0, Units>)+(h | cn::named<"forget", of_h>));
            auto const next = cn::tanh(
                (read_t | cn::slice_channels<Units, Units>)+(forget * h | cn::named<"next", of_h>));
            return h + forget * (next - h);
        };
        return cn::scan(read, cn::shape<Units>{}, cell).last;
    }
};
template <std::size_t Units>
inline constexpr minimal_gated_layer<Units> minimal_gated{};

using network = cn::sequential<cn::input<window, 1>, minimal_gated<32>, cn::dense<1>>;
using windows = cn::data::dataset<cn::shape<1>, cn::shape<window, 1>>;

std::vector<double> made_series() {
    std::mt19937 random{7};
    std::normal_distribution<double> normal;
    std::vector<double> series;
    double phase = 0, slow = 0;
    for (int t = 0; t < 4000; ++t) {
        phase += 0.26 + 0.01 * normal(random);
        slow += 0.037;
        series.push_back(std::sin(phase) * (1 + 0.5 * std::sin(slow)) + 0.05 * normal(random));
    }
    return series;
}

// All windows that end before `last`, each with the value behind it.
windows windows_of(std::vector<double> const& series, std::size_t first, std::size_t last) {
    std::vector<float> x, y;
    for (std::size_t t = first; t + window < last; ++t) {
        x.insert(x.end(), series.data() + t, series.data() + t + window);
        y.push_back(float(series[t + window]));
    }
    return windows{x, y};
}

int main(int count, char** arguments) try {
    auto const series = count > 1 ? cn::io::read_csv(arguments[1]).numbers("value") : made_series();
    int const epochs = count > 2 ? std::atoi(arguments[2]) : 8;
    std::size_t const seen = series.size() * 4 / 5;
    auto const data = windows_of(series, 0, seen), unseen = windows_of(series, seen, series.size());

    cn::model<network, cn::policy::cpu, cn::batch<64>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::mse, cn::clip_norm(cn::adam{.learning_rate = 3e-3}, 1));
    training.fit(data, {.epochs = epochs, .validation = unseen, .verbose = cn::verbosity::lines});

    double naive = 0; // of the guess that nothing changes
    for (std::size_t t = seen + window; t < series.size(); ++t) {
        naive += std::pow(series[t] - series[t - 1], 2) / double(unseen.size());
    }
    std::printf("mean squared error: %.4f, of the value before: %.4f\n",
                training.evaluate(unseen).loss(), naive);
} catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
