// Tensors in files: NumPy's .npy, and by name in safetensors files.
#pragma once

#include <castnet/io/detail/shown.hpp>
#include <castnet/io/npy.hpp>
#include <castnet/io/safetensors.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace castnet::io {

namespace detail {

// "(2, 3)"
template <class Extents>
[[gnu::noinline]] std::string text_of_extents(Extents const& extents, size_t rank) {
    std::string text = "(";
    for (size_t axis = 0; axis < rank; ++axis) {
        append(text, {axis > 0 ? ", " : "", extents[axis]});
    }
    return text + ")";
}

// The elements of an array in a file as a tensor.
template <class T, Shape S>
tensor<T, S> tensor_from(std::string const& file, std::string const& what, dtype type,
                         std::vector<size_t> const& extents, std::span<unsigned char const> bytes) {
    if (type != dtype_of<T> || extents.size() != S::rank ||
        !std::equal(extents.begin(), extents.end(), S::extent)) {
        throw file_error(file, {what, " is ", name_of(type), " ",
                                text_of_extents(extents, extents.size()), ", expected ",
                                name_of(dtype_of<T>), " ", text_of_extents(S::extent, S::rank)});
    }
    auto result = tensor<T, S>::empty();
    if constexpr (std::same_as<T, bool>) { // a file may hold other bytes than 0 and 1
        std::transform(bytes.begin(), bytes.end(), result.data(),
                       [](unsigned char byte) { return byte != 0; });
    } else {
        std::memcpy(result.data(), bytes.data(), bytes.size());
    }
    return result;
}

template <class X>
struct tensor_in_file;
template <class T, Shape S>
struct tensor_in_file<tensor<T, S>> {
    static tensor<T, S> read_npy(std::string const& path) {
        npy_array const array = io::read_npy(path);
        return tensor_from<T, S>(path, "the array", array.type, array.shape, array.data);
    }
    static tensor<T, S> read(safetensors_file const& file, std::string_view name) {
        stored_tensor const& found = file.at(name);
        return tensor_from<T, S>(file.file_name(), string_of({"tensor ", shown(found.name)}),
                                 found.type, found.shape, found.bytes);
    }
};

} // namespace detail

// The array in a .npy file (or in path.gz): read_npy<tensor<float, shape<60, 28>>>("x.npy"). Throws
// file_error unless it has this type and shape.
template <class Tensor>
Tensor read_npy(std::string const& path) {
    return detail::tensor_in_file<Tensor>::read_npy(path);
}

// Writes a tensor, or the value of an expression, for np.load(path). Atomic; throws file_error.
template <TensorExpression X>
void write_npy(std::string const& path, X const& x) {
    auto const value = to<device::cpu>(x);
    using S = typename X::shape_type;
    write_npy(path, std::span<size_t const>{S::extent, S::rank},
              std::span<typename X::value_type const>{value.data(), value.size()});
}

// A tensor of a safetensors file by its name. Throws file_error unless the file has it with this
// type and shape.
template <class Tensor>
Tensor read_tensor(safetensors_file const& file, std::string_view name) {
    return detail::tensor_in_file<Tensor>::read(file, name);
}

// A tensor under a name, for save_safetensors; a view, so the tensor must outlive it.
template <class T, Shape S>
stored_tensor tensor_of(std::string name, tensor<T, S> const& x) {
    return tensor_of(std::move(name), {S::extent, S::extent + S::rank}, x.data());
}

} // namespace castnet::io
