#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/tensorboard.hpp>

#include "../io/hostile.hpp"

#include <cmath>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <utility>

namespace cn = castnet;
using castnet::testing::temporary_directory;
using doctest::Contains;

namespace {

using net = cn::sequential<cn::input<4>, cn::dense<6>, cn::tanh, cn::dropout<0.2F>, cn::dense<3>>;
using points = cn::data::dataset<cn::data::label<3>, cn::shape<4>>;

points some_points(size_t count, int power = 1) {
    std::vector<float> x(count * 4);
    std::vector<int> labels(count);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * i % 89) / 89;
    }
    for (size_t i = 0; i < count; ++i) {
        labels[i] = int(power == 1 ? i % 3 : i * i % 3);
    }
    return points{std::move(x), std::move(labels)};
}

template <class Policy = cn::policy::cpu>
struct run {
    cn::model<net, Policy, cn::batch<8>> model{cn::seed{4}};
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy)) training =
        cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.02}, cn::accuracy);
    points data = some_points(44), test = some_points(20, 2); // six steps an epoch

    cn::history fit(std::vector<cn::callback> callbacks, int epochs = 20,
                    std::string const& file = "") {
        return training.fit(data, {.epochs = epochs,
                                   .validation = test,
                                   .verbose = cn::verbosity::silent,
                                   .checkpoint = file.empty() ? cn::checkpoint_options{}
                                                              : cn::checkpoint(training, file),
                                   .callbacks = std::move(callbacks)});
    }
    auto weights() const { return model.get("0.weight"); }
};

// A history of one column besides what fit always writes.
cn::history history_of(std::string const& column, std::vector<double> const& values) {
    return cn::history{{column}, values};
}

// Whether early stopping ends a fit behind the last of these epochs.
bool stops(cn::early_stopping const& rule, std::vector<double> const& values) {
    cn::history const h = history_of(rule.monitor, values);
    cn::epoch_report report{int(values.size()), h};
    rule.end_epoch(report);
    return report.stop;
}

double const not_a_number = std::nan("");

} // namespace

TEST_CASE("early stopping waits for its patience, as Keras's") {
    cn::early_stopping const lower{.monitor = "loss", .patience = 2};
    CHECK(!stops(lower, {1}));
    CHECK(!stops(lower, {1, 1}));
    CHECK(stops(lower, {1, 1, 1}));
    CHECK(!stops(lower, {1, 1, 0.9}));
    CHECK(!stops(lower, {1, 0.9, 0.95}));
    CHECK(stops(lower, {1, 0.9, 0.95, not_a_number}));
    CHECK(stops({.monitor = "loss", .patience = 1, .least_change = 0.2}, {1, 0.9}));
    CHECK(!stops({.monitor = "loss", .patience = 1, .least_change = 0.2}, {1, 0.7}));
    // Metrics that grow are known by their names, or are said to.
    CHECK(stops({.monitor = "val_accuracy", .patience = 1}, {0.5, 0.4}));
    CHECK(!stops({.monitor = "val_accuracy", .patience = 1}, {0.5, 0.6}));
    for (char const* grows : {"top_5", "val_head_top_10", "f_beta", "box_f_beta", "val_macro_f1",
                              "pr_auc", "mean_iou", "r2"}) {
        CAPTURE(grows);
        CHECK(!stops({.monitor = grows, .patience = 1}, {0.5, 0.6}));
    }
    CHECK(stops({.monitor = "output_1_mae", .patience = 1}, {0.5, 0.6}));
    CHECK(!stops({.monitor = "mine", .patience = 1, .best = cn::better::higher}, {0.5, 0.6}));
    CHECK(stops({.monitor = "mine", .patience = 1}, {0.5, 0.6}));
    cn::early_stopping const at_once{.monitor = "loss", .patience = 0};
    CHECK(!stops(at_once, {1}));
    CHECK(!stops(at_once, {1, 0.9}));
    CHECK(stops(at_once, {1, 0.9, 0.9}));
}

TEST_CASE("the rate is reduced where PyTorch's ReduceLROnPlateau reduces it") {
    auto const factor = [](cn::reduce_on_plateau const& rule, std::vector<double> const& values) {
        return rule.rate_factor(history_of(rule.monitor, values));
    };
    cn::reduce_on_plateau const rule{.monitor = "loss", .factor = 0.5, .patience = 1};
    CHECK(factor(rule, {}) == 1);
    CHECK(factor(rule, {1, 1}) == 1);
    CHECK(factor(rule, {1, 1, 1}) == 0.5);
    CHECK(factor(rule, {1, 1, 1, 1}) == 0.5);
    CHECK(factor(rule, {1, 1, 1, 1, 1}) == 0.25);
    CHECK(factor(rule, {1, 0.99995, 0.99995}) == 0.5); // within the threshold
    CHECK(factor({.monitor = "loss", .factor = 0.5, .patience = 0, .cooldown = 2},
                 {1, 1, 1, 1, 1}) == 0.25);
    CHECK(factor({.monitor = "loss", .factor = 0.1, .patience = 0, .least = 0.05}, {1, 1, 1, 1}) ==
          0.05);
    CHECK(factor({.monitor = "accuracy", .factor = 0.5, .patience = 0}, {0.5, 0.6, 0.7}) == 1);
}

TEST_CASE("the rate is reduced where a negative number no longer improves") {
    auto const factor = [](cn::better best, std::vector<double> const& values) {
        cn::reduce_on_plateau const rule{
            .monitor = "loss", .factor = 0.5, .patience = 0, .threshold = 0.1, .best = best};
        return rule.rate_factor(history_of("loss", values));
    };
    CHECK(factor(cn::better::lower, {-1, -1}) == 0.5);
    CHECK(factor(cn::better::lower, {-1, -1.05}) == 0.5); // within the threshold
    CHECK(factor(cn::better::lower, {0.5, 0, -1, -1.2}) == 1);
    CHECK(factor(cn::better::higher, {-1, -1}) == 0.5);
    CHECK(factor(cn::better::higher, {-1, -0.95}) == 0.5);
    CHECK(factor(cn::better::higher, {-1, -0.8, 0, 0.5}) == 1);
}

TEST_CASE("callbacks end a fit, change its rate and see its history") {
    run<> r;
    std::vector<std::string> seen;
    struct all_hooks {
        std::vector<std::string>* seen;
        void begin_fit(cn::history const& h) {
            seen->push_back("begin " + std::to_string(h.epochs()));
        }
        void end_step(cn::step_report& s) {
            if (s.step % 6 == 1) {
                seen->push_back("step " + std::to_string(s.step));
            }
            CHECK(s.samples == (s.step % 6 == 0 ? 4 : 8));
            CHECK(s.seconds >= 0);
        }
        void end_epoch(cn::epoch_report& e) {
            seen->push_back("epoch " + std::to_string(e.epoch));
            e.stop = e.epoch == 2;
        }
        void end_fit(cn::history const& h) { seen->push_back("end " + std::to_string(h.epochs())); }
        double rate_factor(cn::history const& h) const { return h.epochs() == 0 ? 1 : 0.5; }
    };
    auto const h = r.fit({all_hooks{&seen}});
    CHECK(seen ==
          std::vector<std::string>{"begin 0", "step 1", "epoch 1", "step 7", "epoch 2", "end 2"});
    CHECK(h["learning_rate"] == std::vector<double>{0.02, 0.01});
}

TEST_CASE("callbacks hear of an exception that ends the fit") {
    struct witness {
        std::vector<std::string>* seen;
        void begin_fit(cn::history const&) { seen->push_back("begin"); }
        void end_fit(cn::history const&) { seen->push_back("end"); }
        void leave_fit() noexcept { seen->push_back("leave"); }
    };
    struct fails_at_the_end {
        void end_fit(cn::history const&) { throw std::runtime_error{"end"}; }
    };
    run<> r;
    std::vector<std::string> seen;
    auto const fails = cn::on_step_end{[](cn::step_report&) { throw std::runtime_error{"step"}; }};
    CHECK_THROWS_WITH(r.fit({witness{&seen}, fails}, 1), "step");
    CHECK(seen == std::vector<std::string>{"begin", "leave"});
    seen.clear();
    CHECK_THROWS_WITH(r.fit({fails_at_the_end{}, witness{&seen}}, 1), "end");
    CHECK(seen == std::vector<std::string>{"begin", "leave"});
    seen.clear();
    r.fit({witness{&seen}}, 1);
    CHECK(seen == std::vector<std::string>{"begin", "end"});
}

TEST_CASE("the best parameters are saved, and come back at the end") {
    temporary_directory const folder;
    run<> r, other;
    std::vector<std::vector<float>> weights;
    auto const h =
        r.fit({cn::save_best{r.model, folder / "best.safetensors", {.restore = true}},
               cn::on_epoch_end{[&](cn::epoch_report&) { weights.push_back(r.weights()); }}});
    auto const best = size_t(h.lowest("val_loss").epoch);
    CHECK(best < 20);
    CHECK(r.weights() == weights[best - 1]);
    cn::load(other.model, folder / "best.safetensors");
    CHECK(other.weights() == r.weights());
}

TEST_CASE("best parameters of a column that is always NaN are an error, since there are none") {
    temporary_directory const folder;
    run<> r;
    cn::save_best const best{r.model, folder / "best", {.monitor = "auc"}};
    CHECK_THROWS_WITH_AS(best.end_fit(history_of("auc", {NAN, NAN})),
                         Contains("auc was NaN in every epoch"), cn::error);
    best.end_fit(history_of("auc", {NAN, 0.5}));
    best.end_fit(history_of("auc", {})); // of a fit that ended within its first epoch
}

TEST_CASE("a resumed fit that lacks the best parameters says so before its first step") {
    temporary_directory const folder;
    std::string const best = folder / "best", checkpoint = folder / "checkpoint";
    run<> before;
    auto const h = before.fit({cn::save_best{before.model, best}}, 20, checkpoint);
    CHECK(h.lowest("val_loss").epoch < 20);
    auto const resume = [&](bool restore) {
        run<> r;
        cn::load(r.training, checkpoint);
        auto const steps = r.training.steps();
        try {
            r.fit({cn::save_best{r.model, best, {.restore = restore}}}, 21);
        } catch (...) {
            CHECK(r.training.steps() == steps);
            throw;
        }
    };
    resume(true);
    cn::io::write_csv(best, std::vector<std::string>{"not weights"}, {});
    CHECK_THROWS_WITH_AS(resume(true), Contains(best.c_str()), cn::file_error);
    std::filesystem::remove(best);
    CHECK_THROWS_WITH_AS(resume(true), Contains("the best so far of the fit that goes on"),
                         cn::file_error);
    resume(false);
}

TEST_CASE("the history is written after every epoch, and steps are measured") {
    temporary_directory const folder;
    run<> r;
    cn::step_times const times;
    auto const h = r.fit({cn::csv_log{folder / "log.csv"}, times}, 3);
    h.save_csv(folder / "expected.csv");
    CHECK(castnet::io::read_file(folder / "log.csv") ==
          castnet::io::read_file(folder / "expected.csv"));
    CHECK(times.seconds().size() == 18);
    CHECK(times.mean() == doctest::Approx(times.total() / 18));
    CHECK(times.samples_per_second() == doctest::Approx(3 * 44 / times.total()));
    CHECK(times.total() <= h["seconds"][0] + h["seconds"][1] + h["seconds"][2]);
}

TEST_CASE_TEMPLATE("a fit that a callback ends within an epoch goes on from its checkpoint", Policy,
                   cn::policy::cpu, cn::policy::mirrored<cn::policy::cpu, 2>) {
    temporary_directory const folder;
    auto const rules = [](auto... more) {
        return std::vector<cn::callback>{cn::reduce_on_plateau{.factor = 0.5, .patience = 0},
                                         cn::early_stopping{.patience = 4, .least_change = 0.01},
                                         more...};
    };
    run<Policy> whole;
    auto const expected = whole.fit(rules());
    for (std::uint64_t const last : {1U, 4U, 6U, 9U}) {
        CAPTURE(last);
        std::string const file = folder / std::to_string(last);
        run<Policy> first, second;
        auto const cut = first.fit(
            rules(cn::on_step_end{[&](cn::step_report& s) { s.stop = s.step == last; }}), 20, file);
        CHECK(first.training.steps() == last);
        cn::load(second.training, file);
        auto const h = second.fit(rules(), 20, file);
        CHECK(h["loss"] == expected["loss"]);
        CHECK(h["learning_rate"] == expected["learning_rate"]);
        CHECK(second.weights() == whole.weights());
    }
}

TEST_CASE("a signal ends the fit behind its step, and is the program's again afterwards") {
    temporary_directory const folder;
    run<> r, second, whole;
    auto* const before = std::signal(SIGTERM, SIG_IGN);
    auto const h = r.fit({cn::stop_on_signal{}, cn::on_step_end{[](cn::step_report& s) {
                              if (s.step == 8) {
                                  std::raise(SIGTERM);
                              }
                          }}},
                         20, folder / "state");
    CHECK(r.training.steps() == 9); // the step that runs is finished
    CHECK(h.epochs() == 1);
    bool const is_ignored = std::signal(SIGTERM, before) == SIG_IGN;
    CHECK(is_ignored);
    cn::load(second.training, folder / "state");
    second.fit({}, 4, folder / "state");
    whole.fit({}, 4);
    CHECK(second.weights() == whole.weights());
}

TEST_CASE("a signal that comes after the last step is told") {
    run<> r;
    auto const terminate = cn::on_epoch_end{[](cn::epoch_report&) { std::raise(SIGTERM); }};
    r.fit({cn::stop_on_signal{}, terminate}, 1);
    CHECK(cn::stop_on_signal::arrived() == SIGTERM);
    auto const h = r.fit({cn::stop_on_signal{}}, 1);
    CHECK(h.epochs() == 1);
    CHECK(cn::stop_on_signal::arrived() == 0);
}

TEST_CASE("handlers of the program come back with what they take, also after a fit that failed") {
    static int sender = 0;
    struct sigaction mine{}, before{}, now{};
    mine.sa_sigaction = [](int, siginfo_t* info, void*) { sender = info->si_pid; };
    mine.sa_flags = SA_SIGINFO;
    REQUIRE(::sigaction(SIGTERM, &mine, &before) == 0);
    run<> r;
    std::vector<cn::callback> callbacks{cn::stop_on_signal{}};
    auto failing = callbacks;
    failing.push_back(cn::on_step_end{[](cn::step_report&) { throw std::runtime_error{"step"}; }});
    CHECK_THROWS(r.fit(failing, 1));
    std::raise(SIGTERM);
    CHECK(std::exchange(sender, 0) == ::getpid());
    r.fit(callbacks, 1);
    std::raise(SIGTERM);
    CHECK(sender == ::getpid());
    REQUIRE(::sigaction(SIGTERM, &before, &now) == 0);
    CHECK((now.sa_flags & SA_SIGINFO) != 0);
}

TEST_CASE("an event file has the history's columns") {
    temporary_directory const folder;
    run<> r;
    r.fit({cn::tensorboard{folder / "run"}}, 2);
    std::vector<std::filesystem::path> files;
    for (auto const& entry : std::filesystem::directory_iterator{folder / "run"}) {
        files.push_back(entry.path());
    }
    REQUIRE(files.size() == 1);
    auto const content = castnet::io::read_file(files[0]);
    std::string const text(content.begin(), content.end());
    size_t found = 0;
    for (size_t at = text.find("val_loss"); at != text.npos; at = text.find("val_loss", at + 1)) {
        ++found;
    }
    CHECK(found == 2);
    CHECK(text.find("brain.Event:2") != text.npos);
}

TEST_CASE("a column that is not there is an error that names those that are") {
    run<> r;
    auto const refused = [&](cn::callback const& which) {
        CHECK_THROWS_WITH_AS(r.fit({which}),
                             Contains("no column 'val_auc'; it has loss, accuracy, val_loss"),
                             cn::error);
    };
    refused(cn::early_stopping{.monitor = "val_auc"});
    refused(cn::reduce_on_plateau{.monitor = "val_auc"});
    refused(cn::save_best{r.model, "best", {.monitor = "val_auc"}});
    CHECK(r.training.steps() == 0); // before the first step
}

TEST_CASE("numbers of callbacks that make no sense are refused before the first step") {
    run<> r;
    auto const refused = [&](cn::callback const& which, char const* message) {
        CHECK_THROWS_WITH_AS(r.fit({which}), message, cn::error);
    };
    refused(cn::early_stopping{.patience = -1}, "castnet: early_stopping: patience is -1, expected "
                                                "a finite number that is not negative");
    refused(cn::early_stopping{.least_change = not_a_number},
            "castnet: early_stopping: least_change is nan, expected a finite number that is not "
            "negative");
    refused(cn::reduce_on_plateau{.factor = 2},
            "castnet: reduce_on_plateau: factor is 2, expected a number from 0 to below 1");
    refused(cn::reduce_on_plateau{.least = -1},
            "castnet: reduce_on_plateau: least is -1, expected a number from 0 to 1");
    CHECK(r.training.steps() == 0);
}

TEST_CASE("a file that would be written twice is told before the first step") {
    temporary_directory const folder;
    run<> r;
    std::string const file = folder / "model";
    std::string const message = "castnet: " + file +
                                ": two callbacks of the fit, or one and its checkpoint, would "
                                "write this file; give each a file of its own";
    auto const refused = [&](std::vector<cn::callback> const& callbacks,
                             std::string const& checkpoint = "") {
        CHECK_THROWS_WITH_AS(r.fit(callbacks, 1, checkpoint), message.c_str(), cn::file_error);
        CHECK(r.training.steps() == 0);
    };
    refused({cn::save_best{r.model, file}}, file);
    refused({cn::save_best{r.model, file}}, folder / "./model");
    refused({cn::csv_log{file}, cn::save_best{r.model, file}});
    std::filesystem::create_symlink("model", folder / "link");
    refused({cn::save_best{r.model, folder / "link"}, cn::csv_log{file}});
    r.fit({cn::save_best{r.model, file}, cn::csv_log{folder / "log"}}, 1, folder / "checkpoint");
    CHECK(r.training.steps() > 0);
}

TEST_CASE(
    "files that cannot be written are told before the first step, and nothing is left behind") {
    temporary_directory const folder;
    run<> r;
    auto const refused = [&](auto const& fit, std::string const& message) {
        CHECK_THROWS_WITH_AS(fit(), Contains(message.c_str()), cn::file_error);
        CHECK(r.training.steps() == 0);
    };
    std::string const missing = folder / "none/it-{epoch}";
    for (std::string const& file : {missing, folder.path}) {
        std::string const message =
            "castnet: " + file +
            (file == missing ? ": the folder that it is to be in does not exist: "
                               "No such file or directory"
                             : ": is a directory, expected a regular file");
        refused([&] { r.fit({}, 1, file); }, message);
        refused([&] { r.fit({cn::csv_log{file}}, 1); }, message);
        refused([&] { r.fit({cn::save_best{r.model, file}}, 1); }, message);
    }
    refused([&] { r.fit({cn::csv_log{""}}, 1); }, "the name of the file is empty");
    refused([&] { (void)cn::checkpoint(r.training, ""); }, "the name of the file is empty");
    refused([&] { r.fit({cn::save_each{r.model, missing, {.every = 2}}}, 3); },
            folder / "none/it-2: the folder that it is to be in does not exist");
    refused([&] { r.fit({cn::save_each{r.training, missing}}, 3); },
            folder / "none/it-1: the folder");
    refused([&] { r.fit({cn::tensorboard{"/proc/none/run"}}, 1); }, "castnet: /proc/");
    refused([&] { r.fit({cn::tensorboard{folder / "new"}, cn::csv_log{missing}}, 1); }, missing);
    CHECK(folder.names().empty());
    r.fit({cn::tensorboard{folder / "new/run/"}, cn::csv_log{folder / "log"}}, 1);
    CHECK(folder.names().size() == 2);
}

TEST_CASE("files of each epoch, of which the last ones stay") {
    temporary_directory const folder;
    auto const exists = [&](std::string const& name) {
        return std::filesystem::exists(folder / name);
    };
    run<> whole, part;
    whole.fit({cn::save_each{whole.model, folder / "weights-{epoch}", {.every = 2, .keep = 2}},
               cn::save_each{whole.model, folder / "all-{epoch}", {.every = 4, .keep = 1 << 30}},
               cn::save_each{whole.training, folder / "{epoch}.checkpoint", {.keep = 1}}},
              7);
    CHECK(exists("all-4"));
    for (int epoch = 1; epoch <= 7; ++epoch) {
        CAPTURE(epoch);
        CHECK(exists("weights-" + std::to_string(epoch)) == (epoch == 4 || epoch == 6));
        CHECK(exists(std::to_string(epoch) + ".checkpoint") == (epoch == 7));
    }
    cn::load(part.training, folder / "7.checkpoint");
    CHECK(part.weights() == whole.weights());
    part.fit({}, 9);
    run<> longer;
    longer.fit({}, 9);
    CHECK(part.weights() == longer.weights());
    std::filesystem::create_directory(folder / "1");
    run<> each;
    each.fit({cn::save_each{each.model, folder / "{epoch}/of-{epoch}"}}, 1);
    CHECK(std::filesystem::exists(folder / "1/of-1"));
    CHECK_THROWS_WITH_AS((cn::save_each{whole.model, "weights"}), Contains("{epoch}"), cn::error);
    CHECK_THROWS_AS((cn::save_each{whole.model, "{epoch}", {.every = 0}}), cn::error);
}
