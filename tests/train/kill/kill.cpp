// A training that may be killed at any moment and started again: kill.sh does so.
//
//   test_kill alone|mirrored|sharded|augmented FOLDER
//
// Goes on from FOLDER/checkpoint, adds a line to FOLDER/calls for every epoch's callback, and at
// the end writes weights, history and scores to FOLDER/result, all to the last bit. `augmented` has
// images that workers change at random, stops early, and ends with the best weights.
#include <castnet/data.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../../comm/replicas.hpp"

#include <cstdio>
#include <filesystem>
#include <string>

using namespace replicas_test;

namespace {

template <class Numbers>
void add_line(std::string& text, std::string const& name, Numbers const& numbers) {
    text += name;
    for (auto const x : numbers) {
        char digits[64];
        std::snprintf(digits, sizeof digits, " %a", double(x));
        text += digits;
    }
    text += '\n';
}

// What a training reads, and the callbacks that it has besides.
struct plain {
    static auto data(data_set samples) { return samples; }
    static std::vector<cn::callback> callbacks(auto&, std::string const&) { return {}; }
};
struct augmented {
    static auto data(data_set samples) {
        using namespace cn::data;
        return prefetch(augment(std::move(samples), random_flip{}, random_resized_crop{},
                                random_shift{.padding = 1}),
                        {.workers = 3, .ahead = 5});
    }
    static std::vector<cn::callback> callbacks(auto& model, std::string const& folder) {
        return {cn::early_stopping{.patience = 2},
                cn::save_best{model, folder + "/best", {.restore = true}}};
    }
};

template <class Policy, std::size_t Batch, class Reads = plain>
int run(std::string const& folder) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    std::string const checkpoint = folder + "/checkpoint", calls = folder + "/calls";
    if (std::filesystem::exists(checkpoint)) {
        cn::load(training, checkpoint);
    }
    auto const record = [&](cn::epoch_report& report) {
        std::string line =
            cn::string_of({report.again ? "again " : "first ", "epoch ", report.epoch, " best ",
                           report.history.lowest("val_loss").epoch});
        add_line(line, "", report.history["val_loss"]);
        std::FILE* const to = std::fopen(calls.c_str(), "a");
        std::fwrite(line.data(), 1, line.size(), to);
        std::fclose(to); // in one write, so that a line is there or not
        report.stop = report.stop || report.epoch == 9;
    };
    auto const history = training.fit(Reads::data(samples(61)),
                                      {.epochs = 20,
                                       .schedule = cn::one_cycle(1e-2),
                                       .validation = samples(13),
                                       .verbose = cn::verbosity::silent,
                                       .checkpoint = cn::checkpoint(training, checkpoint, 3),
                                       .callbacks = Reads::callbacks(model, folder),
                                       .on_epoch_end = record});
    std::string result = cn::string_of({"steps ", training.steps(), '\n'});
    for (std::string const& name : history.names()) {
        if (name != "seconds" && name != "waiting") {
            add_line(result, name, history[name]);
        }
    }
    add_line(result, "score", std::vector<double>{training.evaluate(samples(13)).loss()});
    add_line(result, "weights", everything(model));
    cn::io::atomic_file file{folder + "/result"};
    file.write(result);
    file.commit();
    return 0;
}

} // namespace

int main(int count, char** arguments) {
    std::string const which = count == 3 ? arguments[1] : "";
    if (which == "alone") {
        return run<cn::policy::cpu, 8>(arguments[2]);
    }
    if (which == "mirrored") {
        return run<cn::policy::mirrored<cn::policy::cpu, 2>, 4>(arguments[2]);
    }
    if (which == "sharded") {
        using cn::strategy::sharded_optimizer;
        return run<cn::policy::mirrored<cn::policy::cpu, 2, sharded_optimizer>, 4>(arguments[2]);
    }
    if (which == "augmented") {
        return run<cn::policy::mirrored<cn::policy::cpu, 2>, 4, augmented>(arguments[2]);
    }
    std::fprintf(stderr, "usage: test_kill alone|mirrored|sharded|augmented FOLDER\n");
    return 2;
}
