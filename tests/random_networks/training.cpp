// Fits of a random network, for training.py: writes its parameters before and after one, and prints
// what differs from it in a resumed fit, with a limit of memory, in one of two replicas, in
// predictions of one sample, and after parameters have changed.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>
#include <castnet/policy/mirrored.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

namespace cn = castnet;

namespace {

template <class T>
std::vector<T> numbers(char const* file, size_t count) {
    std::vector<T> x(count);
    std::ifstream in{file, std::ios::binary};
    if (!in.read(reinterpret_cast<char*>(x.data()), std::streamsize(count * sizeof(T)))) {
        throw cn::error(std::string("random_networks: cannot read ") + file);
    }
    return x;
}

} // namespace

#include "network.hpp" // network, policies, training and data, by training.py

namespace {

void expect(bool holds, char const* what) {
    if (!holds) {
        std::printf("%s\n", what);
    }
}

template <class Model>
std::vector<double> parameters(Model const& model) {
    std::vector<double> all;
    for (size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const values = model.get(model.parameter_at(i).name.text());
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

template <class Where, cn::size_t Batch>
using model_on = cn::model<network, Where, cn::batch<Batch>>;
using network_model = model_on<policy, capacity>;
using replicas_model = model_on<replicated, capacity / replicas>;

// Of each output.
std::vector<std::vector<double>> predictions(auto const& model, dataset const& data) {
    auto found = model.predict(data);
    if constexpr (requires { found.size(); }) {
        return {found};
    } else {
        return std::apply([](auto&... each) { return std::vector{each...}; }, found);
    }
}

void freeze(auto& training) {
    if (*frozen != 0) {
        training.freeze(frozen);
    }
}

// What a fit makes of a new model, and its losses.
template <class Model, class Prepare, class After>
std::vector<double> fit(Model& model, auto const& data, Prepare const& prepare,
                        After const& after) {
    auto training = compiled(model);
    auto options = fit_options(training);
    freeze(training);
    prepare(training, options);
    auto const losses = training.fit(data, options)["loss"];
    after(training);
    return losses;
}
template <class Model, class Prepare>
std::vector<double> fit(Model& model, auto const& data, Prepare const& prepare) {
    return fit(model, data, prepare, [](auto&) {});
}

// Loss and metrics, and the parameters or their averages with which they were computed.
template <class Training>
std::vector<double> results(Training& training, dataset const& data) {
    std::vector<double> all = parameters(training.model());
    auto const add = [&] {
        auto const scores = training.evaluate(data);
        auto const more = metrics(scores);
        all.push_back(scores.loss());
        all.insert(all.end(), more.begin(), more.end());
    };
    add();
    if constexpr (averages) {
        cn::averaged_weights const now{training};
        auto const weights = parameters(training.model());
        all.insert(all.end(), weights.begin(), weights.end());
        add();
    }
    return all;
}

template <class Model>
void check_resumed(dataset const& all) {
    auto const data = pipeline(all);
    auto const ahead = cn::data::prefetch(pipeline(all), {.workers = 2, .ahead = 3});
    Model whole{cn::seed{1}}, stopped{cn::seed{1}}, resumed{cn::seed{1}};
    auto const shuffled = [](auto&, auto& options) { options.shuffle = true; };
    auto const losses = fit(whole, data, shuffled);
    int steps = 0;
    fit(stopped, ahead, [&](auto& training, auto& options) {
        options.shuffle = true;
        options.checkpoint = cn::checkpoint(training, "checkpoint.safetensors");
        options.callbacks = {
            cn::on_step_end{[&](cn::step_report& report) { report.stop = ++steps == stop_after; }}};
    });
    auto const others = fit(resumed, ahead, [&](auto& training, auto& options) {
        options.shuffle = true;
        if (*frozen != 0) { // the checkpoint knows
            training.unfreeze(frozen);
        }
        load(training, "checkpoint.safetensors");
    });
    expect(steps == stop_after, "the fit did not stop");
    expect(parameters(resumed) == parameters(whole), "a resumed fit has other parameters");
    expect(others == losses, "a resumed fit has other losses");
}

// A limit that holds changes nothing.
void check_limited(std::vector<double> const& one, dataset const& data) {
    cn::model<network, cn::policy::memory_limit<policy, 1 << 30>, cn::batch<capacity>> limited{
        cn::seed{1}};
    fit(
        limited, data, [](auto&, auto&) {},
        [&](auto& training) {
            expect(results(training, data) == one, "a limit of memory changes results");
        });
}

// Replicas with the samples of one; sums over samples have another order.
void check_replicas(std::vector<double> const& one, dataset const& data) {
    replicas_model several{cn::seed{1}};
    std::vector<double> of_all;
    fit(
        several, data, [](auto&, auto&) {},
        [&](auto& training) { of_all = results(training, data); });
    double most = 0;
    for (size_t i = 0; i < one.size(); ++i) {
        most = std::fmax(most, std::fabs(one[i] - of_all[i]) / (1 + std::fabs(one[i])));
    }
    expect(most < 1e-6, "replicas have other parameters, averages or scores than one model");
}

// (In tiny networks the sums of a sample alone have another order.)
void check_predictions(network_model const& model, dataset const& data) {
    auto const all = predictions(model, data);
    double most = 0;
    for (size_t i = 0; i < samples; i += 2) {
        auto const alone = predictions(model, data.subset({i}));
        for (size_t o = 0; o < alone.size(); ++o) {
            for (size_t k = 0; k < alone[o].size(); ++k) {
                double const x = alone[o][k], y = all[o][i * alone[o].size() + k];
                most = x == y ? most : std::fmax(most, std::fabs(x - y) / (1 + std::fabs(y)));
            }
        }
    }
    expect(most < 1e-12, "a sample alone has another prediction");
}

// Whoever has computed with other parameters before computes what a new model does.
template <class Training>
void check_like_new(Training& training, network_model const& model, dataset const& data) {
    cn::save(model, "copy.safetensors");
    network_model fresh{cn::seed{3}};
    load(fresh, "copy.safetensors");
    expect(predictions(fresh, data) == predictions(model, data),
           "a loaded model has other predictions");
    expect(compiled(fresh).evaluate(data).loss() == training.evaluate(data).loss(),
           "a loaded model has another loss");
}

template <class Training>
void check_averages(Training& training, network_model& model, dataset const& data) {
    if constexpr (averages) {
        auto const before = predictions(model, data);
        {
            cn::averaged_weights const now{training};
            cn::save(model, "averages.safetensors");
            check_like_new(training, model, data);
        }
        expect(predictions(model, data) == before, "averages are left behind");
    }
}

template <class Training>
void check_changes(Training& training, network_model& model, dataset const& data) {
    check_like_new(training, model, data);
    auto const before = predictions(model, data);
    network_model other{cn::seed{5}};
    predictions(other, data);
    cn::copy_parameters(model, other);
    expect(predictions(other, data) == before, "copied parameters have other predictions");
    for (size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const name = model.parameter_at(i).name.text();
        auto const values = model.get(name);
        model.set(name, std::vector<double>(values.size(), 0.5));
        check_like_new(training, model, data);
        model.set(name, values);
    }
    expect(predictions(model, data) == before,
           "parameters that were set back have other predictions");
    std::vector<size_t> const some{0, 1, 2};
    training.step(data, some);
    check_like_new(training, model, data);
}

} // namespace

int main() {
    dataset const data = read_data();
    network_model model{cn::seed{1}};
    cn::save(model, "before.safetensors");
    auto training = compiled(model);
    freeze(training);
    auto const losses = training.fit(data, fit_options(training))["loss"];
    cn::save(model, "after.safetensors");
    std::vector<double> results(losses.begin(), losses.end());
    auto const scores = training.evaluate(data);
    results.push_back(scores.loss());
    auto const more = metrics(scores);
    results.insert(results.end(), more.begin(), more.end());
    std::ofstream{"losses.bin", std::ios::binary}.write(
        reinterpret_cast<char const*>(results.data()),
        std::streamsize(results.size() * sizeof(double)));
    check_averages(training, model, data);
    check_resumed<network_model>(data);
    check_resumed<replicas_model>(data);
    auto const whole = ::results(training, data);
    check_limited(whole, data);
    check_replicas(whole, data);
    check_predictions(model, data);
    check_changes(training, model, data);
}
