// Checkpoints: a whole training in a safetensors file, which is written by fit() as it goes or by
// save(), and from which the same program goes on as if it had never stopped.
//
// The file holds the weights as a file of weights does (so load(model, file) and PyTorch read
// them), the optimizer's state as "optimizer/<slot>/<parameter>", and as text in the metadata,
// under "castnet.…", the optimizer, the seed, the steps and epochs done and the place in the epoch.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/train/training.hpp>
#include <castnet/train/weights.hpp>

#include <charconv>

namespace castnet {

namespace detail {

// What a checkpoint of a training holds besides tensors, as text in the file's metadata.
class training_record {
public:
    training_record() = default;
    training_record(io::safetensors_metadata values, std::string file)
        : values_{std::move(values)}, file_{std::move(file)} {}

    template <class Number>
    void put(std::string const& key, Number value) {
        char text[32];
        values_["castnet." + key] = {text, std::to_chars(text, text + sizeof text, value).ptr};
    }
    void put(std::string const& key, char const* text) { values_["castnet." + key] = text; }

    // Throws file_error if it is not there, or not a number.
    std::string const& text(std::string const& key) const {
        auto const at = values_.find("castnet." + key);
        if (at == values_.end()) {
            throw file_error(file_, {"its metadata has no 'castnet.", key,
                                     "': it is no checkpoint of a training; load weights into "
                                     "the model"});
        }
        return at->second;
    }
    template <class Number>
    Number number(std::string const& key) const {
        std::string const& s = text(key);
        Number value{};
        auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
        if (error != std::errc{} || end != s.data() + s.size()) {
            throw file_error(
                file_, {"its metadata has '", s, "' for 'castnet.", key, "', expected a number"});
        }
        return value;
    }

    io::safetensors_metadata const& metadata() const { return values_; }

private:
    io::safetensors_metadata values_;
    std::string file_;
};

template <class Training, class Visit>
void for_each_slot(Visit const& visit) {
    for (placed_parameter const& p : Training::training_plan.parameters) {
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
    for_each_slot<training_type>([&](int k, placed_parameter const& p, std::string const& name) {
        list.add(name, p, t.slot(k, p));
    });
    auto const& position = t.position();
    training_record record;
    record.put("optimizer", Optimizer::name);
    record.put("seed", t.model().seed_value());
    record.put("steps", t.steps());
    record.put("epochs", t.epochs());
    record.put("fit.epochs", position.epochs);
    record.put("fit.samples", position.samples);
    record.put("fit.weight", position.sums.weight);
    for (size_t i = 0; i < position.sums.count; ++i) {
        record.put(string_of({"fit.sum.", i}), position.sums.sum[i]);
    }
    io::save_safetensors(file, list.tensors(), record.metadata());
}

} // namespace detail

// Writes the training and its model; the file appears whole or not at all. Of several processes the
// first one writes; with a sharded optimizer all have to call this. Throws file_error.
template <class Model, class Loss, class Optimizer, class... Metrics>
void save(training<Model, Loss, Optimizer, Metrics...> const& t, std::string const& file) {
    t.read_state([&] { detail::write_checkpoint(t, file); });
}

// For fit_options::checkpoint: writes this training, which must live as long as the fit, to the
// file after every epoch and, where `every` is not 0, whenever so many steps have been done.
template <class Model, class Loss, class Optimizer, class... Metrics>
checkpoint_options checkpoint(training<Model, Loss, Optimizer, Metrics...> const& t,
                              std::string const& file, std::uint64_t every = 0) {
    return {[&t, file] { save(t, file); }, every};
}

// Reads what save() wrote. A file that fit() wrote says how far it had come: the next fit() with
// the same data and options does what was left. Throws file_error, and leaves training and model as
// they were, unless the file fits the network and the optimizer and was written with the model's
// seed.
template <class Model, class Loss, class Optimizer, class... Metrics>
void load(training<Model, Loss, Optimizer, Metrics...>& t, std::string const& file) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    using T = typename Model::value_type;
    io::safetensors_file const stored = io::load_safetensors(file);
    detail::training_record const record{stored.metadata(), file};
    if (std::string const& written = record.text("optimizer"); written != Optimizer::name) {
        throw file_error(file, {"was written with ", written, ", but this training's optimizer is ",
                                Optimizer::name, "; load it into the model to take the weights"});
    }
    Model& model = t.model();
    if (auto const seed = record.number<std::uint64_t>("seed"); seed != model.seed_value()) {
        throw file_error(file, {"was written with seed ", seed, ", but the model has ",
                                model.seed_value(), "; make the model with the seed of the file"});
    }
    typename training_type::position_type position;
    position.epochs = record.number<size_t>("fit.epochs");
    position.samples = record.number<size_t>("fit.samples");
    position.sums.weight = record.number<double>("fit.weight");
    for (size_t i = 0; i < position.sums.count; ++i) {
        position.sums.sum[i] = record.number<double>(string_of({"fit.sum.", i}));
    }
    auto const steps = record.number<std::uint64_t>("steps");
    auto const epochs = record.number<std::uint64_t>("epochs");
    auto const parameters = detail::parameters_in<Model>(stored);
    std::vector<std::vector<T>> state;
    detail::for_each_slot<training_type>(
        [&](int, placed_parameter const& p, std::string const& name) {
            state.push_back(detail::values_of<T>(stored, name, p));
        });
    model_access::exclusive const access{model.access(), "load"};
    // nothing can fail from here on
    detail::set_parameters(model, parameters);
    size_t next = 0;
    detail::for_each_slot<training_type>([&](int k, placed_parameter const& p, std::string const&) {
        t.set_slot(k, p, state[next++]);
    });
    t.resume(steps, epochs, position);
}

} // namespace castnet
