// Serialized tensor: name, element type, shape and bytes, for readers and writers of files with
// named tensors.
#pragma once

#include <castnet/io/detail/elements.hpp>
#include <castnet/io/detail/shown.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace castnet::io {

struct stored_tensor {
    std::string name;
    dtype type;
    std::vector<size_t> shape; // empty for a single number
    // The elements, last axis fastest, in the byte order of this machine. A non-owning view of any
    // alignment, so copy with memcpy.
    std::span<unsigned char const> bytes;

    // The elements as T: a column of a data set. Throws castnet::error for one beyond the range of
    // T, for one with a fraction where T is an integer, and for floats of 8 bits and complex
    // numbers.
    template <class T>
        requires(std::integral<T> || std::floating_point<T>)
    std::vector<T> as() const {
        return detail::elements_as<T>("stored_tensor::as", detail::shown(name), type, bytes);
    }
};

// A view of `data`, which holds as many elements as `shape` says.
template <class T>
stored_tensor tensor_of(std::string name, std::vector<size_t> shape, T const* data) {
    size_t count = 1;
    for (size_t const extent : shape) {
        count *= extent;
    }
    return {std::move(name),
            dtype_of<T>,
            std::move(shape),
            {reinterpret_cast<unsigned char const*>(data), count * sizeof(T)}};
}

} // namespace castnet::io
