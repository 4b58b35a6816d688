// Checkpoints: a whole training in a safetensors file, written during fit() or by save(), from
// which the same program resumes as if it had never stopped.
//
// The file holds the weights as a file of weights does (so load(model, file) and PyTorch read
// them), the optimizer's state as "optimizer/<slot>/<parameter>", and as text in the metadata,
// under "castnet.…", the types of the training, the steps and epochs done, the position in the
// epoch and the history.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/train/training.hpp>
#include <castnet/train/training_record.hpp>
#include <castnet/train/weights.hpp>

namespace castnet {

namespace detail {

// Version of the metadata; others are refused.
inline constexpr char const* checkpoint_version = "2";

template <class Scores>
[[gnu::cold]] std::string metric_names() {
    std::string all;
    for (size_t i = 1; i < Scores::count; ++i) {
        append(all, {i == 1 ? "" : ", ", Scores::names[i]});
    }
    return all;
}

// "cross_entropy + 0.25 mse".
template <class Loss>
[[gnu::cold]] std::string loss_name(std::type_identity<Loss>) {
    if constexpr (requires { Loss::name; }) {
        return Loss::name;
    } else {
        return {};
    }
}
template <float Weight, class Loss>
[[gnu::cold]] std::string loss_name(std::type_identity<weighted_loss<Weight, Loss>>) {
    return string_of({double{Weight}, " ", loss_name(std::type_identity<Loss>{})});
}
template <class... Loss>
[[gnu::cold]] std::string loss_name(std::type_identity<loss_list<Loss...>>) {
    std::string all;
    (append(all, {all.empty() ? "" : " + ", loss_name(std::type_identity<Loss>{})}), ...);
    return all;
}

// f(name, value) for the optimizer's numbers, if it lists them.
template <class Optimizer, class F>
[[gnu::cold]] void for_each_hyperparameter(Optimizer const& o, F const& f) {
    if constexpr (requires { o.hyperparameters(); }) {
        for (hyperparameter const& h : o.hyperparameters()) {
            f(string_of({"optimizer.", h.name}), h.value);
        }
    }
}

template <class Training, class Visit>
void for_each_slot(Visit const& visit) {
    for (ir::placed_parameter const& p : Training::training_plan.parameters) {
        for (int k = 0; p.trainable && k < Training::optimizer_type::slots; ++k) {
            visit(k, p, string_of({optimizer_prefix, k, '/', p.name.text()}));
        }
    }
}

template <class Model, class Loss, class Optimizer, class... Metrics>
void write_checkpoint(training<Model, Loss, Optimizer, Metrics...> const& t,
                      std::string const& file) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    tensor_list<typename Model::value_type> list;
    add_parameters(list, t.model());
    for_each_slot<training_type>([&](int k, ir::placed_parameter const& p,
                                     std::string const& name) { list.add(name, p, t.slot(k, p)); });
    auto const position = t.position();
    using scores_type = typename training_type::scores_type;
    training_record record;
    record.put("version", checkpoint_version);
    record.put("optimizer", Optimizer::name);
    for_each_hyperparameter(
        t.optimizer(), [&](std::string const& name, double value) { record.put(name, value); });
    if constexpr (has_groups<Optimizer>) {
        record.put("groups", t.optimizer().group_names().c_str());
    }
    record.put("loss", loss_name(std::type_identity<Loss>{}).c_str());
    record.put("metrics", metric_names<scores_type>().c_str());
    if (!t.scalars().empty()) {
        record.put("scalars", std::span<double const>{t.scalars()});
    }
    record.put("seed", t.model().seed_value());
    record.put("batch", std::uint64_t{Model::capacity});
    record.put("samples_per_step", t.step_capacity());
    record.put("batches_per_step", std::uint64_t{training_type::strategies::micro_batches});
    std::string frozen; // one name a line
    for (std::string const& name : t.frozen()) {
        append(frozen, {name, "\n"});
    }
    if (!frozen.empty()) {
        record.put("frozen", frozen.c_str());
    }
    record.put("steps", t.steps());
    record.put("epochs", t.epochs());
    record.put("fit.epochs", position.epochs);
    record.put("fit.samples", position.samples);
    record.put("fit.data_size", position.data_size);
    record.put("fit.weight", position.sums.weight);
    record.put("fit.sums", std::span<double const>{position.sums.sum});
    record.put("fit.seconds", position.seconds);
    record.put("fit.rate", position.rate);
    record.put("fit.callback_pending", std::uint64_t{position.callback_pending});
    record.put("fit.stopped", std::uint64_t{position.stopped});
    history const& h = t.fit_history();
    record.put("history.columns", h.names().size());
    for (size_t i = 0; i < h.names().size(); ++i) {
        record.put(string_of({"history.", i, ".name"}), h.names()[i].c_str());
        record.put(string_of({"history.", i}), std::span<double const>{h[h.names()[i]]});
    }
    io::safetensors_metadata metadata = record.metadata();
    add_description(metadata, t.model().description());
    io::save_safetensors(file, list.tensors(), metadata);
}

} // namespace detail

// Writes the training and its model; the file appears whole or not at all. Of several processes the
// first one writes; with a sharded optimizer all have to call this. Throws file_error.
template <class Model, class Loss, class Optimizer, class... Metrics>
void save(training<Model, Loss, Optimizer, Metrics...> const& t, std::string const& file) {
    t.read_state([&] { detail::write_checkpoint(t, file); });
}

// For fit_options::checkpoint: writes this training, which must live as long as the fit, to the
// file after every epoch and, if `every` is not 0, every `every` steps.
template <class Model, class Loss, class Optimizer, class... Metrics>
checkpoint_options checkpoint(training<Model, Loss, Optimizer, Metrics...> const& t,
                              std::string const& file, std::uint64_t every = 0) {
    return {[&t, file] { save(t, file); }, every};
}

namespace detail {

// Throws file_error unless the file was written by a training of this type.
template <class Model, class Loss, class Optimizer, class... Metrics>
[[gnu::cold]] void check_training(training<Model, Loss, Optimizer, Metrics...> const& t,
                                  training_record const& record, std::string const& file) {
    if (std::string const& written = record.text("optimizer"); written != Optimizer::name) {
        throw file_error(file, {"was written with ", io::detail::shown(written),
                                ", but this training's optimizer is ", Optimizer::name,
                                "; load it into the model to take the weights"});
    }
    if (!record.has("version") || record.text("version") != checkpoint_version) {
        throw file_error(file,
                         {"is a checkpoint of ",
                          record.has("version")
                              ? string_of({"version ", io::detail::shown(record.text("version"))})
                              : std::string{"the first version, without a history"},
                          ", expected version ", checkpoint_version,
                          "; load it into the model to take the weights"});
    }
    record.require("loss", loss_name(std::type_identity<Loss>{}), "loss");
    record.require(
        "metrics",
        metric_names<typename training<Model, Loss, Optimizer, Metrics...>::scores_type>(),
        "metrics");
    if (!t.scalars().empty()) {
        record.require("scalars", training_record::text_of(t.scalars()),
                       "numbers of loss and metrics");
    }
    if constexpr (has_groups<Optimizer>) {
        record.require("groups", t.optimizer().group_names(), "parameter groups");
    }
    constexpr std::uint64_t most = std::uint64_t(-1);
    if (auto const seed = record.count("seed", most); seed != t.model().seed_value()) {
        throw file_error(file,
                         {"was written with seed ", seed, ", but the model has ",
                          t.model().seed_value(), "; make the model with the seed of the file"});
    }
    // Replicas may be fewer or more, or one may take the samples of all.
    auto const batch = record.count("batch", most), step = record.count("samples_per_step", most);
    auto const batches =
        record.has("batches_per_step") ? record.count("batches_per_step", most) : 1;
    constexpr auto micro_batches =
        std::uint64_t(training<Model, Loss, Optimizer, Metrics...>::strategies::micro_batches);
    if ((batch != Model::capacity || batches != micro_batches) && step != t.step_capacity()) {
        throw file_error(file,
                         {"was written with batch<", batch, ">, ", step, " samples a step in ",
                          batches, " batches, but this training has batch<", Model::capacity, ">, ",
                          t.step_capacity(), " samples a step in ", micro_batches});
    }
    for_each_hyperparameter(t.optimizer(), [&](std::string const& name, double mine) {
        if (double const written = record.finite(name); written != mine) {
            throw file_error(file, {"was written with ", name, " = ", written,
                                    ", but this training has ", mine,
                                    "; compile it with the number of the file (another learning "
                                    "rate is given by fit_options::schedule)"});
        }
    });
}

// How far the fit had come.
template <class Position>
[[gnu::cold]] Position position_in(training_record const& record, std::string const& file) {
    constexpr std::uint64_t most = std::uint64_t{1} << 53; // exact as a double
    Position p;
    p.epochs = record.count("fit.epochs", std::numeric_limits<int>::max());
    p.samples = record.count("fit.samples", most);
    p.data_size = record.count("fit.data_size", most);
    p.sums.weight = record.not_negative("fit.weight");
    auto const sums = record.numbers("fit.sums", p.sums.sums);
    std::copy(sums.begin(), sums.end(), p.sums.sum);
    p.seconds = record.not_negative("fit.seconds");
    p.rate = record.not_negative("fit.rate");
    p.callback_pending = record.flag("fit.callback_pending");
    p.stopped = record.flag("fit.stopped");
    bool const finite = std::all_of(sums.begin(), sums.end(), is_finite);
    if (!finite || p.samples > p.data_size || (p.samples == 0) != (p.sums.weight == 0)) {
        throw file_error(file, {"its metadata has a place in an epoch that cannot be: ", p.samples,
                                " of ", p.data_size, " samples, of the weight ", p.sums.weight,
                                finite ? "" : ", with a loss or metric that is no finite number"});
    }
    return p;
}

[[gnu::cold]] inline history history_in(training_record const& record, size_t epochs) {
    size_t const columns = record.count("history.columns", 1000);
    std::vector<std::string> names;
    std::vector<double> rows(epochs * columns);
    for (size_t i = 0; i < columns; ++i) {
        names.push_back(record.text(string_of({"history.", i, ".name"})));
        auto const column = record.numbers(string_of({"history.", i}), epochs);
        for (size_t k = 0; k < epochs; ++k) {
            rows[k * columns + i] = column[k];
        }
    }
    return history{std::move(names), std::move(rows)};
}

// A flag for each parameter of the plan, those that were frozen when the checkpoint was written.
template <class Plan>
[[gnu::cold]] std::vector<unsigned char> frozen_in(training_record const& record, Plan const& plan,
                                                   std::string const& file) {
    std::vector<unsigned char> flags(std::size(plan.parameters));
    if (!record.has("frozen")) {
        return flags;
    }
    std::string_view rest = record.text("frozen");
    while (!rest.empty()) {
        std::string_view const name = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        auto const found =
            std::find_if(std::begin(plan.parameters), std::end(plan.parameters),
                         [&](auto const& p) { return p.trainable && p.name.text() == name; });
        if (found == std::end(plan.parameters)) {
            throw file_error(file, {"its metadata has the frozen parameter ",
                                    io::detail::shown(std::string{name}),
                                    ", which this network does not train"});
        }
        flags[size_t(found - std::begin(plan.parameters))] = 1;
    }
    return flags;
}

template <class T>
[[gnu::cold]] void check_numbers(std::string const& file, std::string const& name,
                                 std::vector<T> const& values, bool not_negative) {
    for (T const x : values) {
        if (!is_finite(double(x)) || (not_negative && x < 0)) {
            throw file_error(
                file, {"tensor '", name, "' holds ", double(x), ", expected ",
                       not_negative ? "finite numbers that are not negative" : "finite numbers",
                       "; go on from an earlier checkpoint"});
        }
    }
}

template <class Optimizer>
constexpr bool slot_not_negative(int slot) {
    if constexpr (requires { Optimizer::not_negative(slot); }) {
        return Optimizer::not_negative(slot);
    } else {
        return false;
    }
}

} // namespace detail

// Restores a training from a file of save() or fit(). After a file of fit(), the next fit() with
// the same data and options does the remaining epochs, and returns the history of all. Throws
// file_error, and leaves training and model as they were, unless the file fits the network, the
// loss, the metrics, the optimizer with its hyperparameters and the batch, was written with the
// model's seed, and holds only values that a training can produce, no NaN. Not within fit().
template <class Model, class Loss, class Optimizer, class... Metrics>
void load(training<Model, Loss, Optimizer, Metrics...>& t, std::string const& file) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    using T = typename Model::value_type;
    t.refuse_within_fit("load");
    io::safetensors_file const stored = io::load_safetensors(file);
    detail::training_record const record{stored.metadata(), file};
    detail::check_training(t, record, file);
    auto const position = detail::position_in<typename training_type::position_type>(record, file);
    constexpr std::uint64_t most = std::uint64_t{1} << 53;
    auto const steps = record.count("steps", most), epochs = record.count("epochs", most);
    history h = detail::history_in(record, position.epochs);
    Model& model = t.model();
    data::description description = model.description();
    detail::find_description(stored.metadata(), file, description);
    auto const parameters = detail::parameters_in<Model>(stored);
    for (size_t i = 0; i < parameters.size(); ++i) {
        detail::check_numbers(file, Model::parameter_at(i).name.text(), parameters[i], false);
    }
    std::vector<std::vector<T>> state;
    detail::for_each_slot<training_type>([&](int k, ir::placed_parameter const& p,
                                             std::string const& name) {
        state.push_back(detail::values_of<T>(stored, name, p));
        detail::check_numbers(file, name, state.back(), detail::slot_not_negative<Optimizer>(k));
    });
    auto frozen = detail::frozen_in(record, training_type::training_plan, file);
    model_access::exclusive const access{model.access(), "load"};
    // nothing can fail from here on
    detail::set_parameters(model, parameters);
    model.describe(std::move(description));
    size_t next = 0;
    detail::for_each_slot<training_type>(
        [&](int k, ir::placed_parameter const& p, std::string const&) {
            t.set_slot(k, p, state[next++]);
        });
    t.set_frozen(std::move(frozen));
    t.resume(steps, epochs, position, std::move(h));
}

} // namespace castnet
