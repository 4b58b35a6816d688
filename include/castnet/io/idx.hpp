// The IDX format of the MNIST family: two zero bytes, an element type, the number of axes, one
// big-endian 32-bit extent per axis, then the elements, big endian, last axis fastest.
// http://yann.lecun.com/exdb/mnist
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/compressed.hpp>
#include <castnet/io/dtype.hpp>

#include <cstdint>

namespace castnet::io {

struct idx_array {
    dtype type;
    std::vector<size_t> extents;
    bytes data; // the elements, in the byte order of this machine
};

// The array in a file. Throws file_error unless the header is valid and exactly as many bytes
// follow as it announces.
idx_array read_idx(source& in);

inline namespace CASTNET_GZIP_SUPPORT {

// The array in the file `path`, or in `path`.gz; see read_compressed.
idx_array read_idx(std::string const& path);

} // namespace CASTNET_GZIP_SUPPORT

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

namespace detail {

constexpr struct {
    unsigned char code;
    dtype type;
} idx_types[] = {{0x08, dtype::u8},  {0x09, dtype::i8},  {0x0B, dtype::i16},
                 {0x0C, dtype::i32}, {0x0D, dtype::f32}, {0x0E, dtype::f64}};

[[gnu::noinline]] inline dtype idx_type(unsigned char code, std::string const& file) {
    for (auto const& known : idx_types) {
        if (known.code == code) {
            return known.type;
        }
    }
    throw file_error(file, {"byte 2: found IDX element type ", code,
                            ", expected 8 (U8), 9 (I8), 11 (I16), 12 (I32), 13 (F32) or 14 "
                            "(F64); the file is damaged"});
}

// "the data (2 x 3 elements of type U8)", for messages.
[[gnu::noinline]] inline std::string idx_data(idx_array const& array) {
    constexpr size_t most = 8; // axes that are shown
    std::string text = array.extents.empty() ? "the data (1" : "the data (";
    for (size_t axis = 0; axis < std::min(array.extents.size(), most); ++axis) {
        append(text, {axis == 0 ? "" : " x ", array.extents[axis]});
    }
    append(text, {array.extents.size() > most ? " x ..." : "",
                  array.extents.empty() ? " element" : " elements", " of type ",
                  name_of(array.type), ')'});
    return text;
}

[[gnu::noinline]] inline void swap_elements(bytes& data, size_t size) {
    for (size_t first = 0; size > 1 && first < data.size(); first += size) {
        for (size_t i = 0; i < size / 2; ++i) {
            std::swap(data[first + i], data[first + size - 1 - i]);
        }
    }
}

} // namespace detail

[[gnu::noinline]] inline idx_array read_idx(source& in) {
    unsigned char magic[4];
    in.fill(magic, "the IDX header");
    if (magic[0] != 0 || magic[1] != 0) {
        throw file_error(in.file(), {"byte 0: found ", magic[0], ", ", magic[1],
                                     ", expected two zero bytes; this is not an IDX file"});
    }
    idx_array array{detail::idx_type(magic[2], in.file()), {}, {}};
    for (unsigned axis = 0; axis < magic[3]; ++axis) {
        array.extents.push_back(in.big<std::uint32_t>("an extent of the IDX header"));
    }
    auto const what = detail::idx_data(array);
    size_t size = 0;
    if (!byte_count(array.type, array.extents, size)) {
        throw file_error(in.file(), {"byte 4: found a header for more than 2^64 bytes: ", what,
                                     "; the file is damaged"});
    }
    array.data = in.take(size, what);
    in.check_end(what);
    if constexpr (std::endian::native == std::endian::little) {
        detail::swap_elements(array.data, size_of(array.type));
    }
    return array;
}

inline namespace CASTNET_GZIP_SUPPORT {

inline idx_array read_idx(std::string const& path) {
    return read_compressed(path, [](source& in) { return read_idx(in); });
}

} // namespace CASTNET_GZIP_SUPPORT

#endif

} // namespace castnet::io
