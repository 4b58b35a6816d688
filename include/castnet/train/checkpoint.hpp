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
#include <castnet/io/dtype.hpp>
#include <castnet/io/widen.hpp>
#include <castnet/train/recorded_fit.hpp>
#include <castnet/train/recorded_settings.hpp>
#include <castnet/train/training.hpp>
#include <castnet/train/weights.hpp>

namespace castnet {

namespace detail {

template <class Training, class Visit>
void for_each_slot(Visit const& visit) {
    for (ir::placed_parameter const& p : Training::training_plan().parameters) {
        for (int k = 0; p.trainable && k < Training::optimizer_type::slots; ++k) {
            visit(k, p);
        }
    }
}

inline std::string slot_name(int slot, ir::placed_parameter const& p) {
    return string_of({optimizer_prefix, slot, '/', p.name.text()});
}

template <class T>
[[gnu::noinline]] void check_numbers(std::string const& file, std::string const& name,
                                     std::vector<T> const& values, bool not_negative,
                                     char const* advice) {
    for (T const& x : values) {
        if (!is_finite(x) || (not_negative && x < 0)) {
            throw file_error(
                file, {"tensor '", name, "' holds ", double(x), ", expected ",
                       not_negative ? "finite numbers that are not negative" : "finite numbers",
                       "; ", advice});
        }
    }
}

template <class Model, class Loss, class Optimizer, class... Metrics>
void write_checkpoint(training<Model, Loss, Optimizer, Metrics...> const& t,
                      std::string const& file) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    tensor_list<typename Model::value_type> list;
    add_parameters(list, t.model(), file);
    for_each_slot<training_type>(
        [&](int k, ir::placed_parameter const& p) { list.add(slot_name(k, p), p, t.slot(k, p)); });
    for (size_t i = 0; i < list.tensors().size(); ++i) {
        io::stored_tensor const& each = list.tensors()[i];
        if (i >= Model::parameter_tensors() || Model::parameter_at(i).trainable) {
            check_numbers(file, each.name, io::widened<typename Model::value_type>(each), false,
                          "no training goes on from that, so the checkpoint is not written, and "
                          "one that was there stays");
        }
    }
    training_record record;
    record_settings(t, record);
    record_frozen(t.frozen(), record);
    record_fit(t, record);
    io::safetensors_metadata metadata = record.metadata();
    add_description(metadata, t.model().description());
    save_weights_file(file, list.tensors(), std::move(metadata));
}

} // namespace detail

// Writes the training and its model; the file appears whole or not at all. Of several processes the
// first one writes; with a sharded optimizer all have to call this. Throws file_error, also where
// a number is NaN or, of what is trained, infinite, as load() would.
template <class Model, class Loss, class Optimizer, class... Metrics>
void save(training<Model, Loss, Optimizer, Metrics...> const& t, std::string const& file) {
    t.model().access().refuse_averages("save");
    t.read_state([&] { detail::write_checkpoint(t, file); });
}

// For fit_options::checkpoint: writes this training, which must live as long as the fit, to the
// file after every epoch and, if `every` is not 0, every `every` steps.
template <class Model, class Loss, class Optimizer, class... Metrics>
checkpoint_options checkpoint(training<Model, Loss, Optimizer, Metrics...> const& t,
                              std::string const& file, std::uint64_t every = 0) {
    io::detail::check_name(file);
    return {[&t, file] { save(t, file); }, every, file, &t};
}
// Only for its message.
template <class Net, class Where, class Batch>
checkpoint_options checkpoint(model<Net, Where, Batch> const&, std::string const&,
                              std::uint64_t = 0) {
    static_assert(detail::never<Net>,
                  "castnet: a checkpoint is that of a training: cn::checkpoint(training, file); "
                  "files of a model's parameters are written by the callbacks "
                  "cn::save_best{model, file} and cn::save_each{model, \"{epoch}\"}");
    return {};
}

namespace detail {

// Throws file_error unless all numbers of a checkpoint are T: others would be rounded, or would
// have been rounded, in each step.
template <class T>
[[gnu::noinline]] void check_element_type(io::safetensors_file const& file) {
    for (io::stored_tensor const& t : file.entries()) {
        if (t.type != io::dtype_of<T>) {
            throw file_error(file.file_name(),
                             {"tensor ", io::detail::shown(t.name), " is ", io::name_of(t.type),
                              ", but this training computes in ", io::name_of(io::dtype_of<T>),
                              "; resume it with the element type of the file, or load the weights "
                              "alone, into ",
                              io::widens_to<T>(t.type)
                                  ? "the model"
                                  : "a model of that type, for copy_parameters"});
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
// loss, the metrics, the optimizer with its hyperparameters, the batch and the element type, was
// written with the model's seed, and holds only values that a training can produce, no NaN and,
// of what is trained, no infinity. Not within fit().
template <class Model, class Loss, class Optimizer, class... Metrics>
void load(training<Model, Loss, Optimizer, Metrics...>& t, std::string const& file) {
    using training_type = training<Model, Loss, Optimizer, Metrics...>;
    using T = typename Model::value_type;
    io::safetensors_file const stored = detail::load_weights_file(file);
    detail::training_record const record{stored.metadata(), file};
    detail::check_settings(t, record, file);
    detail::check_element_type<T>(stored);
    auto const position = detail::position_in<typename training_type::position_type>(record, file);
    constexpr std::uint64_t most = std::uint64_t{1} << 53;
    auto const steps = record.count("steps", most), epochs = record.count("epochs", most);
    history h = detail::history_in(record, position.epochs, file);
    Model& model = t.model();
    data::description description = model.description();
    detail::find_description(stored.metadata(), file, description);
    constexpr char const* earlier = "resume from an earlier checkpoint";
    auto const parameters = detail::parameters_in<Model>(stored);
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (Model::parameter_at(i).trainable) { // a mask holds -infinity, say
            detail::check_numbers(file, Model::parameter_at(i).name.text(), parameters[i], false,
                                  earlier);
        }
    }
    std::vector<std::vector<T>> state;
    detail::for_each_slot<training_type>([&](int k, ir::placed_parameter const& p) {
        std::string const name = detail::slot_name(k, p);
        state.push_back(detail::values_of<T>(stored, name, p));
        detail::check_numbers(file, name, state.back(), detail::slot_not_negative<Optimizer>(k),
                              earlier);
    });
    detail::check_fingerprint(training_type::fingerprint(), record, file); // names come first
    auto frozen = detail::frozen_in(record, training_type::training_plan(), file);
    model_access::exclusive const access{model.access(), "load"};
    t.refuse_within_fit("load");
    model.access().refuse_averages("load");
    t.set_frozen(std::move(frozen));
    t.resume(steps, epochs, position, std::move(h));
    // nothing can fail from here on
    detail::set_parameters(model, parameters);
    model.describe(std::move(description));
    size_t next = 0;
    detail::for_each_slot<training_type>(
        [&](int k, ir::placed_parameter const& p) { t.set_slot(k, p, state[next++]); });
}

} // namespace castnet
