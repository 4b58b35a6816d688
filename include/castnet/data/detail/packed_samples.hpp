// Packed samples: rows of equal size of the numbers of each sample, in memory or in a file.
//
// A file is a header of 64 bytes (the text "castnet1", then in little endian: u64 whether inputs
// are bytes, u64 samples, u64 numbers of inputs, u64 numbers of targets, f64 scale, f64 offset, u32
// zero, u32 CRC-32C of all these), then for each sample its row and the u32 CRC-32C of that.
#pragma once

#include <castnet/data/detail/sample_row.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/io/crc32.hpp>

#include <cmath>
#include <cstring>

namespace castnet::data::detail {

static_assert(std::endian::native == std::endian::little,
              "castnet: files of packed samples are little endian and so must the machine be");

struct packed_format {
    bool bytes = false; // of the inputs; else floats, as targets are
    std::uint64_t samples = 0, inputs = 0, targets = 0;
    double scale = 1, offset = 0; // of bytes

    bool operator==(packed_format const&) const = default;

    size_t row_bytes() const {
        return size_t(inputs) * (bytes ? 1 : sizeof(float)) + size_t(targets) * sizeof(float);
    }

    // Throws castnet::error for an input that is no byte * scale + offset.
    void pack(size_t sample, std::span<float const> numbers, std::span<unsigned char> out) const {
        size_t const first = bytes ? size_t(inputs) : 0; // that is a float
        for (size_t i = 0; i < first; ++i) {
            double const byte = std::round((double(numbers[i]) - offset) / scale);
            out[i] = static_cast<unsigned char>(byte >= 0 && byte <= 255 ? byte : 0);
            if (unpacked<float>(out[i]) != numbers[i]) {
                throw error({"castnet: data::cache: input number ", i, " of sample ", sample,
                             " is ", numbers[i], ", which is not a byte * ", scale, " + ", offset,
                             "; keep floats, or give cache_options the scale and the offset"});
            }
        }
        std::memcpy(out.data() + first, numbers.data() + first,
                    (numbers.size() - first) * sizeof(float));
    }
    template <class T>
    T unpacked(unsigned char byte) const {
        return T(byte) * T(scale) + T(offset);
    }
    template <class T>
    void copy_inputs(std::span<unsigned char const> row, size_t first, size_t count, T* out) const {
        if (!bytes) {
            copy_floats(row.data() + first * sizeof(float), count, out);
            return;
        }
        for (size_t i = 0; i < count; ++i) {
            out[i] = unpacked<T>(row[first + i]);
        }
    }
    template <class T>
    void copy_targets(std::span<unsigned char const> row, size_t first, size_t count,
                      T* out) const {
        size_t const begin = row_bytes() - size_t(targets) * sizeof(float);
        copy_floats(row.data() + begin + first * sizeof(float), count, out);
    }

private:
    template <class T>
    static void copy_floats(unsigned char const* from, size_t count, T* out) {
        for (size_t i = 0; i < count; ++i) {
            float number = 0;
            std::memcpy(&number, from + i * sizeof(float), sizeof(float));
            out[i] = T(number);
        }
    }
};

inline constexpr size_t packed_header_bytes = 64;
inline constexpr unsigned char packed_magic[8] = {'c', 'a', 's', 't', 'n', 'e', 't', '1'};

[[gnu::noinline]] inline io::bytes header_of(packed_format const& format) {
    io::bytes header(std::begin(packed_magic), std::end(packed_magic));
    auto const put = [&](auto value) {
        auto const* const first = reinterpret_cast<unsigned char const*>(&value);
        header.insert(header.end(), first, first + sizeof value);
    };
    put(std::uint64_t{format.bytes});
    put(format.samples);
    put(format.inputs);
    put(format.targets);
    put(format.scale);
    put(format.offset);
    put(std::uint32_t{0});
    put(io::crc32c(header));
    return header;
}

inline void write_row(io::atomic_file& file, std::span<unsigned char const> row) {
    std::uint32_t const crc = io::crc32c(row);
    file.write(row);
    file.write({reinterpret_cast<unsigned char const*>(&crc), sizeof crc});
}

// A file of them, of which threads read single rows.
class packed_file {
public:
    // Throws file_error unless the header is whole, and the file as long as it says.
    [[gnu::noinline]] explicit packed_file(std::string const& path) : file_{path} {
        unsigned char header[packed_header_bytes];
        if (file_.size() < sizeof header) {
            fail("the file is too short to hold packed samples");
        }
        file_.read(0, header);
        if (!std::equal(std::begin(packed_magic), std::end(packed_magic), header)) {
            fail("byte 0: the file does not hold packed samples");
        }
        size_t at = sizeof packed_magic;
        auto const take = [&](auto& value) {
            std::memcpy(&value, header + at, sizeof value);
            at += sizeof value;
        };
        std::uint64_t bytes = 0;
        std::uint32_t zero = 0, crc = 0;
        take(bytes);
        take(format_.samples);
        take(format_.inputs);
        take(format_.targets);
        take(format_.scale);
        take(format_.offset);
        take(zero);
        take(crc);
        if (crc != io::crc32c({header, sizeof header - sizeof crc}) || bytes > 1) {
            fail("the header is damaged");
        }
        format_.bytes = bytes == 1;
        constexpr std::uint64_t most = std::uint64_t{1} << 40; // no product below overflows
        size_t const content = file_.size() - sizeof header;
        bool const fits = format_.inputs < most && format_.targets < most &&
                          content % (format_.row_bytes() + sizeof crc) == 0 &&
                          content / (format_.row_bytes() + sizeof crc) == format_.samples;
        if (!fits) {
            fail(string_of({"found ", file_.size(), " bytes, which are not those of ",
                            quantity(format_.samples, "sample"), " of ", format_.inputs, " and ",
                            quantity(format_.targets, "number")}));
        }
    }

    packed_format const& format() const { return format_; }

    // Throws file_error unless the file has this format.
    [[gnu::noinline]] void require(packed_format const& expected) const {
        if (!(format_ == expected)) {
            fail(string_of({"holds ", text_of(format_), ", expected ", text_of(expected)}));
        }
    }

    // Throws file_error unless this is the first row.
    [[gnu::noinline]] void require_first(std::span<unsigned char const> expected) const {
        with(0, [&](std::span<unsigned char const> row) {
            if (!std::equal(row.begin(), row.end(), expected.begin(), expected.end())) {
                fail("the first sample is another than that of the data");
            }
        });
    }

    // Calls use(row). Throws file_error where it is damaged.
    template <class Use>
    void with(size_t sample, Use const& use) const {
        size_t const row = format_.row_bytes();
        io::bytes stored(row + sizeof(std::uint32_t));
        file_.read(packed_header_bytes + sample * stored.size(), stored);
        std::uint32_t crc = 0;
        std::memcpy(&crc, stored.data() + row, sizeof crc);
        if (crc != io::crc32c({stored.data(), row})) {
            fail(string_of({"sample ", sample, " is damaged"}));
        }
        use(std::span<unsigned char const>{stored.data(), row});
    }

private:
    static std::string text_of(packed_format const& f) {
        std::string const kind =
            f.bytes ? string_of({"bytes * ", f.scale, " + ", f.offset}) : "floats";
        return string_of({quantity(f.samples, "sample"), " of ", quantity(f.inputs, "input"),
                          " as ", kind, " and ", quantity(f.targets, "target")});
    }
    [[noreturn, gnu::cold]] void fail(std::string const& what) const {
        throw file_error(file_.path(),
                         {what, "; remove the file to have it written again from the data"});
    }

    io::random_access_file file_;
    packed_format format_;
};

} // namespace castnet::data::detail
