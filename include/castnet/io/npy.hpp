// NumPy's .npy files: one array of numbers.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/io/compressed.hpp>
#include <castnet/io/detail/elements.hpp>
#include <castnet/io/detail/other_format.hpp>
#include <castnet/io/detail/shown.hpp>

#include <charconv>
#include <cstring>
#include <utility>

namespace castnet::io {

// Elements in row-major order and in the byte order of this machine.
struct npy_array {
    dtype type{};
    std::vector<size_t> shape;
    bytes data;
    std::string file{}; // that it came from, for messages

    // The elements as T. Throws castnet::error for one beyond the range of T, and for one with a
    // fraction where T is an integer.
    template <Number T>
    std::vector<T> as() const {
        return detail::elements_as<T>("npy_array::as", file, type, data);
    }
};

namespace detail {

// The Python dictionary of the header, as far as NumPy writes it.
class npy_header {
public:
    npy_header(std::string_view text, std::string const& file) : text_{text}, file_{file} {}

    [[gnu::noinline]] std::string_view text_of(std::string_view key) const {
        std::string_view rest = after(key);
        size_t const end = rest.empty() || rest[0] != '\'' ? rest.npos : rest.find('\'', 1);
        if (end == rest.npos) {
            fail(key, "a text in quotes");
        }
        return rest.substr(1, end - 1);
    }
    [[gnu::noinline]] bool is_true(std::string_view key) const {
        std::string_view const rest = after(key);
        if (!rest.starts_with("True") && !rest.starts_with("False")) {
            fail(key, "True or False");
        }
        return rest[0] == 'T';
    }
    [[gnu::noinline]] std::vector<size_t> sizes(std::string_view key) const {
        std::string_view rest = after(key);
        size_t const end = rest.find(')');
        if (rest.empty() || rest[0] != '(' || end == rest.npos) {
            fail(key, "numbers in parentheses");
        }
        rest = rest.substr(1, end - 1);
        std::vector<size_t> found;
        for (;;) {
            rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
            if (rest.empty()) {
                return found;
            }
            size_t size = 0;
            auto const [next, failed] =
                std::from_chars(rest.data(), rest.data() + rest.size(), size);
            if (failed != std::errc{}) {
                fail(key, "numbers in parentheses");
            }
            found.push_back(size);
            rest.remove_prefix(static_cast<size_t>(next - rest.data()));
        }
    }

private:
    [[gnu::noinline]] std::string_view after(std::string_view key) const {
        size_t const at = text_.find(string_of({'\'', key, "':"}));
        if (at == text_.npos) {
            fail(key, "it");
        }
        std::string_view rest = text_.substr(at + key.size() + 3);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        return rest;
    }
    [[noreturn, gnu::cold]] void fail(std::string_view key, char const* expected) const {
        if (text_.find("'descr': [") != text_.npos) {
            throw file_error(file_, "holds elements of several fields, expected numbers; save each "
                                    "field, array['name'], as an array of its own");
        }
        throw file_error(file_, {"the NumPy header does not say '", key, "', expected ", expected,
                                 "; the file is damaged"});
    }

    std::string_view text_;
    std::string const& file_;
};

constexpr struct {
    char const* code; // without the order of bytes
    dtype type;
} npy_types[] = {{"b1", dtype::boolean}, {"u1", dtype::u8},  {"i1", dtype::i8},
                 {"u2", dtype::u16},     {"i2", dtype::i16}, {"u4", dtype::u32},
                 {"i4", dtype::i32},     {"u8", dtype::u64}, {"i8", dtype::i64},
                 {"f2", dtype::f16},     {"f4", dtype::f32}, {"f8", dtype::f64}};

[[gnu::noinline]] inline dtype npy_type(std::string_view descr, std::string const& file) {
    constexpr std::string_view orders = "<>=|";
    for (auto const& known : npy_types) {
        if (descr.size() == 3 && orders.find(descr[0]) != orders.npos &&
            descr.substr(1) == known.code) {
            return known.type;
        }
    }
    throw file_error(file, {"found elements of NumPy's type ", shown(descr),
                            ", expected booleans, integers, or floats of 2, 4 or 8 bytes; "
                            "convert them with array.astype('float32')"});
}

// Elements in column-major (Fortran) order, the first axis innermost, in row-major order.
[[gnu::noinline]] inline bytes rows_of(bytes const& columns, std::span<size_t const> shape,
                                       size_t size) {
    std::vector<size_t> step(shape.size()), index(shape.size());
    for (size_t axis = 0, next = size; axis < shape.size(); next *= shape[axis++]) {
        step[axis] = next;
    }
    bytes rows(columns.size());
    size_t from = 0;
    for (size_t to = 0; to < rows.size(); to += size) {
        std::memcpy(rows.data() + to, columns.data() + from, size);
        for (size_t axis = shape.size(); axis-- > 0;) {
            from += step[axis];
            if (++index[axis] < shape[axis]) {
                break;
            }
            from -= std::exchange(index[axis], 0) * step[axis];
        }
    }
    return rows;
}

} // namespace detail

// The array in a file. Throws file_error unless the header is valid and exactly as many bytes
// follow as it announces.
[[gnu::noinline]] inline npy_array read_npy(source& in) {
    unsigned char magic[8];
    in.fill(magic, "the NumPy header");
    constexpr unsigned char expected[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (!std::equal(expected, expected + 6, magic) || magic[6] < 1 || magic[6] > 3) {
        constexpr unsigned char archive[] = {'P', 'K', 3, 4};
        bool const is_npz = std::equal(archive, archive + 4, magic);
        auto const* const first = reinterpret_cast<char const*>(magic);
        throw file_error(in.file(), {"byte 0: this is not a .npy file of version 1, 2 or 3",
                                     detail::other_format({first, sizeof magic}),
                                     is_npz ? ": read it with read_npz" : ""});
    }
    size_t const size = magic[6] == 1 ? in.little<std::uint16_t>("the size of the NumPy header")
                                      : in.little<std::uint32_t>("the size of the NumPy header");
    bytes const text = in.take(size, "the NumPy header");
    detail::npy_header const header{{reinterpret_cast<char const*>(text.data()), text.size()},
                                    in.file()};
    std::string_view const descr = header.text_of("descr");
    npy_array array{detail::npy_type(descr, in.file()), header.sizes("shape"), {}, in.file()};
    bool const by_columns = header.is_true("fortran_order") && array.shape.size() > 1;
    size_t count = 0;
    if (!byte_count(array.type, array.shape, count)) {
        throw file_error(in.file(), "the header is for more than 2^64 bytes; the file is damaged");
    }
    array.data = in.take(count, "the array");
    in.check_end("the array");
    if (by_columns) {
        array.data = detail::rows_of(array.data, array.shape, size_of(array.type));
    }
    bool const big = descr[0] == '>';
    if (big != (std::endian::native == std::endian::big) && descr[0] != '|' && descr[0] != '=') {
        size_t const each = size_of(array.type);
        for (size_t at = 0; at < array.data.size(); at += each) {
            std::reverse(array.data.begin() + std::ptrdiff_t(at),
                         array.data.begin() + std::ptrdiff_t(at + each));
        }
    }
    return array;
}

inline namespace CASTNET_GZIP_SUPPORT {

// The array in the file `path`, or in `path`.gz; see read_compressed.
inline npy_array read_npy(std::string const& path) {
    return read_compressed(path, [](source& in) { return read_npy(in); });
}

} // namespace CASTNET_GZIP_SUPPORT

// Writes numbers as an array of this shape, for np.load(path). Atomic: see atomic_file. Throws
// file_error, also when the shape has another number of elements, or so many axes that the format's
// header cannot hold it.
template <Number T>
void write_npy(std::string const& path, std::span<size_t const> shape, std::span<T const> values) {
    std::string sizes;
    for (size_t const size : shape) {
        append(sizes, {size, ", "});
    }
    size_t bytes_of_shape = 0;
    if (!byte_count(dtype_of<T>, shape, bytes_of_shape) || bytes_of_shape != values.size_bytes()) {
        throw file_error(path, {"an array of shape (", sizes, ") cannot hold ",
                                quantity(values.size(), "number")});
    }
    constexpr dtype type = dtype_of<T>;
    char const* code = "";
    for (auto const& known : detail::npy_types) {
        code = known.type == type ? known.code : code;
    }
    char const order = sizeof(T) == 1                               ? '|'
                       : std::endian::native == std::endian::little ? '<'
                                                                    : '>';
    std::string header = string_of(
        {"{'descr': '", order, code, "', 'fortran_order': False, 'shape': (", sizes, "), }"});
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    if (header.size() > std::numeric_limits<std::uint16_t>::max()) {
        throw file_error(path, {"a NumPy header cannot hold a shape of ", shape.size(),
                                " axes; write it with fewer"});
    }
    std::string start{"\x93NUMPY\1\0", 8};
    start += static_cast<char>(header.size());
    start += static_cast<char>(header.size() >> 8);
    atomic_file file{path};
    file.write(start);
    file.write(header);
    file.write({reinterpret_cast<unsigned char const*>(values.data()), values.size_bytes()});
    file.commit();
}

} // namespace castnet::io
