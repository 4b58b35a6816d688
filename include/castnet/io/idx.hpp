// The IDX format of the MNIST family: two zero bytes, an element type, the number of axes, one
// big-endian 32-bit extent per axis, then the elements, big endian, last axis fastest.
// http://yann.lecun.com/exdb/mnist
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/compressed.hpp>
#include <castnet/io/cursor.hpp>
#include <castnet/io/dtype.hpp>

#include <cstdint>
#include <utility>

namespace castnet::io {

struct idx_array {
    dtype type;
    std::vector<size_t> extents;
    bytes data; // the elements, in the byte order of this machine
};

namespace detail {

constexpr struct {
    unsigned char code;
    dtype type;
} idx_types[] = {{0x08, dtype::u8},  {0x09, dtype::i8},  {0x0B, dtype::i16},
                 {0x0C, dtype::i32}, {0x0D, dtype::f32}, {0x0E, dtype::f64}};

[[gnu::cold]] inline dtype idx_type(unsigned char code, std::string const& file) {
    for (auto const& known : idx_types) {
        if (known.code == code) {
            return known.type;
        }
    }
    throw file_error(file, {"byte 2: found IDX element type ", code,
                            ", expected 8 (U8), 9 (I8), 11 (I16), 12 (I32), 13 (F32) or 14 "
                            "(F64); the file is damaged"});
}

inline void swap_elements(bytes& data, size_t size) {
    for (size_t first = 0; first < data.size(); first += size) {
        for (size_t i = 0; i < size / 2; ++i) {
            std::swap(data[first + i], data[first + size - 1 - i]);
        }
    }
}

} // namespace detail

// The array in `content`, which came from `file`. Throws file_error unless the header is valid and
// exactly as many bytes follow as it announces.
[[gnu::cold]] inline idx_array parse_idx(bytes content, std::string const& file) {
    cursor in{content, file};
    auto const magic = in.take(4, "the IDX header");
    if (magic[0] != 0 || magic[1] != 0) {
        throw file_error(file, {"byte 0: found ", magic[0], ", ", magic[1],
                                ", expected two zero bytes; this is not an IDX file"});
    }
    idx_array array{detail::idx_type(magic[2], file), {}, {}};
    std::string shape;
    for (unsigned axis = 0; axis < magic[3]; ++axis) {
        array.extents.push_back(in.big<std::uint32_t>("an extent of the IDX header"));
        append(shape, {axis == 0 ? "" : " x ", array.extents.back()});
    }
    size_t expected = 0;
    if (!byte_count(array.type, array.extents, expected) || expected != in.remaining()) {
        throw file_error(file,
                         {"byte ", in.position(), ": found ", in.remaining(),
                          " bytes of data, expected ", shape, " elements of ", size_of(array.type),
                          " bytes; the file is cut short or damaged, fetch it again"});
    }
    auto const header = static_cast<std::ptrdiff_t>(in.position());
    content.erase(content.begin(), content.begin() + header);
    array.data = std::move(content);
    if constexpr (std::endian::native == std::endian::little) {
        detail::swap_elements(array.data, size_of(array.type));
    }
    return array;
}

// The array in the file `path`, or in `path`.gz; see read_compressed.
inline idx_array read_idx(std::string const& path) {
    return parse_idx(read_compressed(path), path);
}

} // namespace castnet::io
