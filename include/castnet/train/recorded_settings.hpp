// Settings of a training in the metadata of its checkpoints, as written and as checked.
#pragma once

#include <castnet/core/digest.hpp>
#include <castnet/core/text.hpp>
#include <castnet/train/training.hpp>
#include <castnet/train/training_record.hpp>
#include <castnet/version.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

namespace castnet::detail {

// Version of the metadata; others are refused.
inline constexpr char const* checkpoint_version = "2";

// Another version of castnet may trace the same layer as another graph.
[[gnu::noinline]] inline std::string library_version() {
    return string_of(
        {CASTNET_VERSION_MAJOR, '.', CASTNET_VERSION_MINOR, '.', CASTNET_VERSION_PATCH});
}

struct recorded_digest {
    char const *key, *other; // what the file has if the values differ
    std::uint64_t value;
};
// In the order in which they depend on each other.
inline std::array<recorded_digest, 3> digests_in(ir::fingerprint const& f) {
    return {{{"fingerprint.network",
              "another network, whose parameters have the same names and shapes", f.network},
             {"fingerprint.loss", "another loss of the same name", f.loss},
             {"fingerprint.metrics", "other metrics of the same names", f.metrics}}};
}

template <class Scores>
[[gnu::noinline]] std::string metric_names() {
    std::string all;
    for (size_t i = 1; i < Scores::count; ++i) {
        append(all, {i == 1 ? "" : ", ", Scores::names[i]});
    }
    return all;
}

// "cross_entropy + 0.25 mse".
template <class Loss>
[[gnu::noinline]] std::string loss_name(std::type_identity<Loss>) {
    if constexpr (requires { Loss::name; }) {
        return Loss::name;
    } else {
        return {};
    }
}
template <double Weight, class Loss>
[[gnu::noinline]] std::string loss_name(std::type_identity<weighted_loss<Weight, Loss>>) {
    return string_of({Weight, " ", loss_name(std::type_identity<Loss>{})});
}
template <class... Loss>
[[gnu::noinline]] std::string loss_name(std::type_identity<loss_list<Loss...>>) {
    std::string all;
    (append(all, {all.empty() ? "" : " + ", loss_name(std::type_identity<Loss>{})}), ...);
    return all;
}

// f(name, value) for the optimizer's numbers, if it lists them.
template <class Optimizer, class F>
[[gnu::noinline]] void for_each_hyperparameter(Optimizer const& o, F const& f) {
    if constexpr (requires { o.hyperparameters(); }) {
        for (hyperparameter const& h : o.hyperparameters()) {
            f(string_of({"optimizer.", h.name}), h.value);
        }
    }
}

template <class Model, class Loss, class Optimizer, class... Metrics>
[[gnu::noinline]] void record_settings(training<Model, Loss, Optimizer, Metrics...> const& t,
                                       training_record& record) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    record.put("version", checkpoint_version);
    record.put("library", library_version().c_str());
    for (recorded_digest const& d : digests_in(training_type::fingerprint())) {
        if (d.value != 0) {
            record.put(d.key, hexadecimal(d.value).c_str());
        }
    }
    record.put("optimizer", Optimizer::name);
    for_each_hyperparameter(
        t.optimizer(), [&](std::string const& name, double value) { record.put(name, value); });
    if constexpr (has_groups<Optimizer>) {
        record.put("groups", t.optimizer().group_names().c_str());
    }
    record.put("loss", loss_name(std::type_identity<Loss>{}).c_str());
    record.put("metrics", metric_names<typename training_type::scores_type>().c_str());
    if (!t.scalars().empty()) {
        record.put("scalars", std::span<double const>{t.scalars()});
    }
    record.put("seed", t.model().seed_value());
    record.put("batch", std::uint64_t{Model::capacity});
    record.put("samples_per_step", t.step_capacity());
    record.put("batches_per_step", std::uint64_t{training_type::strategies::micro_batches});
}

// Throws file_error if the file was written by a training whose network, loss or metrics compute
// something else. (Files of other versions of castnet are taken.)
[[gnu::noinline]] inline void check_fingerprint(ir::fingerprint const& mine,
                                                training_record const& record,
                                                std::string const& file) {
    if (!record.has("library") || record.text("library") != library_version()) {
        return;
    }
    for (recorded_digest const& d : digests_in(mine)) {
        if (d.value != 0 && record.has(d.key) && record.text(d.key) != hexadecimal(d.value)) {
            throw file_error(file, {"was written with ", d.other,
                                    "; compile the training as it was, or load the weights alone, "
                                    "into the model"});
        }
    }
}

// Throws file_error unless the file was written by a training with the same settings.
template <class Model, class Loss, class Optimizer, class... Metrics>
[[gnu::noinline]] void check_settings(training<Model, Loss, Optimizer, Metrics...> const& t,
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
                         {"was written with batch<", batch, ">, ", quantity(step, "sample"),
                          " a step in ", quantity(batches, "batch", "batches"),
                          ", but this training has batch<", Model::capacity, ">, ",
                          quantity(t.step_capacity(), "sample"), " a step in ", micro_batches});
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

} // namespace castnet::detail
