// Fuzz targets: what each reader of files must hold for any bytes. A reader takes them or throws
// file_error; anything else that it throws ends the program.
#pragma once

#include <castnet/data/detail/packed_samples.hpp>
#include <castnet/io/csv_table.hpp>
#include <castnet/io/idx.hpp>
#include <castnet/io/npy.hpp>
#include <castnet/io/npz.hpp>
#include <castnet/io/safetensors.hpp>

#include <cstdlib>

#ifdef CASTNET_HAS_ZLIB
#include <castnet/io/gzip.hpp>
#endif

namespace castnet::fuzz {

inline void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// Calls f; true unless it throws file_error.
template <class F>
bool accepted(F f) {
    try {
        f();
        return true;
    } catch (file_error const&) {
        return false;
    }
}

inline void idx(std::span<unsigned char const> content) {
    accepted([&] {
        io::memory_source in{content, "fuzz.idx"};
        auto const array = io::read_idx(in);
        size_t size = 0;
        require(io::byte_count(array.type, array.extents, size) && array.data.size() == size);
        require(content.size() == 4 + 4 * array.extents.size() + size);
    });
}

// The array has as many bytes as its header says, all of them numbers.
inline void npy(std::span<unsigned char const> content) {
    accepted([&] {
        io::memory_source in{content, "fuzz.npy"};
        auto const array = io::read_npy(in);
        size_t size = 0;
        require(io::byte_count(array.type, array.shape, size) && array.data.size() == size);
        require(array.as<double>().size() == size / io::size_of(array.type));
    });
}

// The same of every array of an archive, which is refused or read again and again.
inline void npz(std::span<unsigned char const> content) {
    accepted([&] {
        io::memory_source in{content, "fuzz.npz"};
        io::npz_file const file{in};
        for (auto const& name : file.names()) {
            accepted([&] {
                constexpr size_t most = size_t{1} << 22;
                auto const array = file.at(name, most);
                size_t size = 0;
                require(io::byte_count(array.type, array.shape, size) && size < most);
                require(array.data.size() == size);
            });
        }
    });
}

// A file of packed samples has all rows that its header announces, each undamaged or refused.
inline void packed(std::span<unsigned char const> content) {
    auto* const file = std::fopen("fuzz.packed", "wb");
    require(file != nullptr);
    std::fwrite(content.data(), 1, content.size(), file);
    std::fclose(file);
    accepted([&] {
        data::detail::packed_file const samples{"fuzz.packed"};
        auto const& format = samples.format();
        for (size_t i = 0; i < format.samples; ++i) {
            accepted([&] {
                samples.with(i, [&](std::span<unsigned char const> row) {
                    require(row.size() == format.row_bytes());
                });
            });
        }
    });
}

// Every cell can be asked for; numbers and classes are there, or refused.
inline void csv(std::span<unsigned char const> content) {
    accepted([&] {
        io::memory_source in{content, "fuzz.csv"};
        io::csv_table const table{in};
        for (auto const& name : table.names()) {
            for (size_t row = 0; row < table.rows(); ++row) {
                table.text(row, name);
            }
            accepted([&] { require(table.numbers(name).size() == table.rows()); });
            accepted([&] { require(table.classes(name).labels.size() == table.rows()); });
        }
    });
}

inline bool same(io::safetensors_file const& a, io::safetensors_file const& b) {
    return a.metadata() == b.metadata() &&
           std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(),
                      b.entries().end(),
                      [](io::stored_tensor const& x, io::stored_tensor const& y) {
                          return x.name == y.name && x.type == y.type && x.shape == y.shape &&
                                 std::ranges::equal(x.bytes, y.bytes);
                      });
}

// The bytes that save_safetensors writes, with the tensors by name.
inline io::bytes written_again(io::safetensors_file const& file) {
    std::vector<io::stored_tensor const*> order;
    for (auto const& tensor : file.entries()) {
        order.push_back(&tensor);
    }
    auto const header = io::detail::header_text(order, file.metadata(), "again");
    io::bytes all(8);
    for (size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<unsigned char>(std::uint64_t{header.size()} >> (8 * i));
    }
    all.insert(all.end(), header.begin(), header.end());
    for (auto const* tensor : order) {
        all.insert(all.end(), tensor->bytes.begin(), tensor->bytes.end());
    }
    return all;
}

// What is read can be written, and is then read as the same.
inline void safetensors(std::span<unsigned char const> content) {
    accepted([&] {
        io::memory_source in{content, "fuzz.safetensors"};
        io::safetensors_file const file{in};
        for (auto const& tensor : file.entries()) {
            require(file.find(tensor.name) == &tensor);
        }
        auto const written = written_again(file);
        io::memory_source again{written, "again"};
        require(accepted([&] { require(same(file, io::safetensors_file{again})); }));
    });
}

#ifdef CASTNET_HAS_ZLIB

// In pieces comes what comes at once.
inline void gzip(std::span<unsigned char const> content) {
    constexpr size_t most = 1 << 16;
    io::bytes whole, pieces;
    bool const whole_accepted = accepted([&] {
        io::memory_source packed{content, "fuzz.gz"};
        io::gunzip_source in{packed};
        whole = in.read_up_to(most);
    });
    bool const pieces_accepted = accepted([&] {
        io::memory_source packed{content, "fuzz.gz"};
        io::gunzip_source in{packed};
        while (pieces.size() < most) {
            auto const piece =
                in.read_up_to(std::min<size_t>(1 + pieces.size() % 1000, most - pieces.size()));
            if (piece.empty()) {
                break;
            }
            pieces.insert(pieces.end(), piece.begin(), piece.end());
        }
    });
    if (whole.size() < most && pieces.size() < most) {
        require(whole_accepted == pieces_accepted);
        require(!whole_accepted || whole == pieces);
    }
}

#endif

} // namespace castnet::fuzz
