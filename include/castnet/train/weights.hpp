// Weights in safetensors files, under the names and in the logical order of the parameters: a
// sequential network of castnet and PyTorch's Sequential of the same layers read each other's
// files.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/safetensors.hpp>
#include <castnet/io/widen.hpp>
#include <castnet/train/description_io.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/shape_text.hpp>
#include <castnet/train/weights_file.hpp>

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

// Names of tensors of an optimizer's state begin with it; no parameter's does.
inline constexpr std::string_view optimizer_prefix = "optimizer/";

// Tensors to be written, with their values.
template <class T>
class tensor_list {
public:
    [[gnu::noinline]] void add(std::string const& name, ir::placed_parameter const& p,
                               std::vector<T> values) {
        values_.push_back(std::move(values));
        tensors_.push_back(
            io::tensor_of(name, {p.shape.begin(), p.shape.end()}, values_.back().data()));
    }
    std::vector<io::stored_tensor> const& tensors() const { return tensors_; }

private:
    std::vector<std::vector<T>> values_; // a vector that moves keeps its elements where they are
    std::vector<io::stored_tensor> tensors_;
};

[[gnu::noinline]] inline bool has_shape_of(io::stored_tensor const& t,
                                           ir::placed_parameter const& p) {
    return std::equal(t.shape.begin(), t.shape.end(), p.shape.begin(), p.shape.end());
}

// Whether a tensor is one of a network's parameters and running statistics, not PyTorch's counter
// "….num_batches_tracked" or optimizer state.
[[gnu::noinline]] inline bool is_of_network(io::stored_tensor const& t) {
    return !t.name.ends_with("num_batches_tracked") && !t.name.starts_with(optimizer_prefix);
}

// Throws file_error for numbers of which a network predicts nothing but NaN: NaN, and negative
// variances of batch_norm.
template <class T>
[[gnu::noinline]] void refuse_unusable(std::string const& file, std::string const& name,
                                       ir::placed_parameter const& p, std::vector<T> const& values,
                                       char const* advice) {
    bool const variances = p.kind == role::statistic && p.name.text().ends_with("running_var");
    for (size_t i = 0; i < values.size(); ++i) {
        if (is_nan(values[i])) {
            throw file_error(file, {"tensor ", io::detail::shown(name), " holds nan as element ", i,
                                    ": the training has diverged; ", advice});
        }
        if (variances && values[i] < 0) {
            throw file_error(file,
                             {"tensor ", io::detail::shown(name), " holds ", double(values[i]),
                              " as element ", i, ", but variances are not negative; ", advice});
        }
    }
}

// The values of a tensor, which must have the parameter's shape and a type whose values T holds,
// and no NaN or negative variance; `advice` is for the message if it has another shape.
template <class T>
[[gnu::noinline]] std::vector<T>
values_of(io::safetensors_file const& file, std::string const& name, ir::placed_parameter const& p,
          char const* advice = "load it into the network that it was saved from, or what has the "
                               "same shapes with castnet::partial{.skip_mismatch = true}") {
    io::stored_tensor const& t =
        file.at(name, "; what both have, or have under other names, is loaded with "
                      "castnet::partial");
    bool const fits = has_shape_of(t, p);
    if (!fits || !io::widens_to<T>(t.type)) {
        constexpr char const* other_type =
            sizeof(T) == sizeof(float)
                ? "files for it hold numbers of 16 or 32 bits: in PyTorch save tensor.float()"
                : "files for it hold floating-point numbers: in PyTorch save tensor.double()";
        throw file_error(file.file_name(),
                         {"tensor ", io::detail::shown(t.name), " is ", io::name_of(t.type), " ",
                          shape_text(t.shape), ", but the network's parameter is ",
                          io::name_of(io::dtype_of<T>), " ", shape_text(p.shape), "; ",
                          fits ? other_type : advice});
    }
    auto values = io::widened<T>(t);
    refuse_unusable(file.file_name(), name, p, values,
                    "load the file of an earlier epoch, or look at what was saved under this name");
    return values;
}

// Throws file_error for a tensor of a network that is none of these.
[[gnu::noinline]] inline void refuse_others(io::safetensors_file const& file,
                                            std::vector<std::string> const& names) {
    for (io::stored_tensor const& t : file.entries()) {
        if (is_of_network(t) && std::find(names.begin(), names.end(), t.name) == names.end()) {
            throw file_error(file.file_name(),
                             {"holds tensor ", io::detail::shown(t.name), " ", shape_text(t.shape),
                              ", but the network has no such parameter; load it into the network "
                              "that it was saved from, or what both have with castnet::partial"});
        }
    }
}

// All parameters of a model, of a file that holds nothing else of a network.
template <class Model>
[[gnu::noinline]] auto parameters_in(io::safetensors_file const& file) {
    std::vector<std::vector<typename Model::value_type>> values;
    std::vector<std::string> names;
    for (size_t i = 0; i < Model::parameter_tensors(); ++i) {
        ir::placed_parameter const& p = Model::parameter_at(i);
        names.push_back(p.name.text());
        values.push_back(values_of<typename Model::value_type>(file, names.back(), p));
    }
    refuse_others(file, names);
    return values;
}

template <class Model>
[[gnu::noinline]] void add_parameters(tensor_list<typename Model::value_type>& list, Model const& m,
                                      std::string const& file) {
    model_access::shared const access{m.access(), "save"};
    for (size_t i = 0; i < m.parameter_tensors(); ++i) {
        std::string const name = m.parameter_at(i).name.text();
        auto values = m.get(name);
        refuse_unusable(file, name, m.parameter_at(i), values,
                        "the file is not written, and one that was there stays");
        list.add(name, m.parameter_at(i), std::move(values));
    }
}

template <class Model, class Values>
[[gnu::noinline]] void set_parameters(Model& m, Values const& values) {
    for (size_t i = 0; i < values.size(); ++i) {
        m.set(m.parameter_at(i), values[i]);
    }
}

template <class Model>
[[gnu::noinline]] void set_parameters_and_description(Model& m,
                                                      io::safetensors_file const& stored) {
    auto const parameters = parameters_in<Model>(stored);
    data::description d = m.description();
    find_description(stored.metadata(), stored.file_name(), d);
    model_access::exclusive const access{m.access(), "load"};
    m.access().refuse_averages("load");
    set_parameters(m, parameters);
    m.describe(std::move(d));
}

} // namespace detail

// Writes all parameters and running statistics, and the model's description; the file appears whole
// or not at all. Throws file_error, also where a number is NaN or a variance negative, as load()
// would.
template <class Net, class Where, class Batch>
void save(model<Net, Where, Batch> const& m, std::string const& file) {
    detail::tensor_list<typename Where::value_type> list;
    detail::add_parameters(list, m, file);
    io::safetensors_metadata metadata;
    detail::add_description(metadata, m.description());
    detail::save_weights_file(file, list.tensors(), std::move(metadata));
}

// Reads all parameters and running statistics, and the description if there is one. Throws
// file_error, and leaves the model as it was, unless the file holds every one of them with its
// shape and a type whose values the model's element type holds (F16, BF16, F32; F64 for double),
// without NaN and negative variances, and nothing else, and unless the checksum that save() writes,
// if it has one, is that of its content. (PyTorch's "….num_batches_tracked", which only counts, is
// passed over, and of a checkpoint of a training only the weights are read.)
template <class Net, class Where, class Batch>
void load(model<Net, Where, Batch>& m, std::string const& file) {
    detail::set_parameters_and_description(m, detail::load_weights_file(file));
}

// The same from the bytes of such a file in memory, for programs that have their weights in
// themselves.
template <class Net, class Where, class Batch>
void load(model<Net, Where, Batch>& m, std::span<unsigned char const> file) {
    io::memory_source bytes{file, "weights in memory"};
    io::safetensors_file const stored{bytes};
    detail::check_checksum(stored);
    detail::set_parameters_and_description(m, stored);
}

// Only for their messages.
template <std::convertible_to<std::string> File, class... Given>
void save(File const&, Given const&...) {
    static_assert(detail::never<File>,
                  "castnet: save(model, file) and save(training, file): the file comes last");
}
template <std::convertible_to<std::string> File, class... Given>
void load(File const&, Given const&...) {
    static_assert(detail::never<File>,
                  "castnet: load(model, file) gives a model the weights of a file; the network is "
                  "the model's type: cn::model<network, cn::policy::cpu, cn::batch<1>> model; "
                  "cn::load(model, file)");
}

} // namespace castnet
