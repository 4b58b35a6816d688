// Weights in safetensors files, under the names and in the logical order of the parameters: a
// sequential network of castnet and PyTorch's Sequential of the same layers read each other's
// files.
#pragma once

#include <castnet/io/safetensors.hpp>
#include <castnet/train/model.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace castnet {

// Writes all parameters and running statistics; the file appears whole or not at all. Throws
// file_error.
template <class Net, class Where, class Batch>
void save(model<Net, Where, Batch> const& m, std::string const& file) {
    using T = typename Where::value_type;
    std::vector<std::vector<T>> values;
    std::vector<io::stored_tensor> tensors;
    for (size_t i = 0; i < m.parameter_count(); ++i) {
        placed_parameter const& p = m.parameter_at(i);
        values.push_back(m.get(p.name.text()));
        std::vector<size_t> const shape(p.dims, p.dims + p.rank);
        tensors.push_back(io::tensor_of(p.name.text(), shape, values.back().data()));
    }
    io::save_safetensors(file, tensors);
}

// Reads all parameters and running statistics. Throws file_error, and leaves the model as it was,
// unless the file holds every one of them with its shape and the model's element type, and nothing
// else. (PyTorch's "….num_batches_tracked", which only counts, is passed over.)
template <class Net, class Where, class Batch>
void load(model<Net, Where, Batch>& m, std::string const& file) {
    using T = typename Where::value_type;
    io::safetensors_file const stored = io::load_safetensors(file);
    std::vector<std::vector<T>> values;
    for (size_t i = 0; i < m.parameter_count(); ++i) {
        placed_parameter const& p = m.parameter_at(i);
        io::stored_tensor const& t = stored.at(p.name.text());
        std::vector<size_t> const shape(p.dims, p.dims + p.rank);
        if (t.shape != shape || t.type != io::dtype_of<T>) {
            auto const text = [](std::vector<size_t> const& extents) {
                std::string s;
                for (size_t n : extents) {
                    s += (s.empty() ? "" : ", ") + std::to_string(n);
                }
                return "(" + s + ")";
            };
            throw file_error(file,
                             "tensor '" + t.name + "' is " + std::string(io::name_of(t.type)) +
                                 " " + text(t.shape) + ", but the network's parameter is " +
                                 std::string(io::name_of(io::dtype_of<T>)) + " " + text(shape) +
                                 "; load it into the network that it was "
                                 "saved from");
        }
        values.emplace_back(size_t(p.count()));
        std::memcpy(values.back().data(), t.bytes.data(), t.bytes.size());
    }
    auto const counts = [](io::stored_tensor const& t) {
        return !t.name.ends_with("num_batches_tracked");
    };
    auto const held =
        size_t(std::count_if(stored.entries().begin(), stored.entries().end(), counts));
    if (held != values.size()) {
        throw file_error(file, "holds " + std::to_string(held) + " tensors, but the network has " +
                                   std::to_string(values.size()) +
                                   " parameters; load it into the network that it was saved from");
    }
    for (size_t i = 0; i < values.size(); ++i) {
        m.set(m.parameter_at(i).name.text(), values[i]);
    }
}

} // namespace castnet
