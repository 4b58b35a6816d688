// What a file may cost: as much memory as it honestly holds, whatever its header says.
#include <castnet/io/csv_table.hpp>
#include <castnet/io/idx.hpp>
#include <castnet/io/safetensors.hpp>
#include <castnet/io/text_lines.hpp>

#include "hostile.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

// In bytes. Atomic, since other tests of this program have threads.
std::atomic<size_t> held{0}, most_held{0}, limit{~size_t{0}};

} // namespace

// Not inlined: GCC would see free() meet memory from operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (size > limit - std::min(limit.load(), held.load())) {
        throw std::bad_alloc{};
    }
    void* const memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    held += ::malloc_usable_size(memory);
    most_held = std::max(most_held.load(), held.load());
    return memory;
}
// (That of std::stable_sort, which AddressSanitizer would take from its own memory.)
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    try {
        return operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    held -= memory == nullptr ? 0 : ::malloc_usable_size(memory);
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

namespace {

// The bytes that `read` holds at most, beside what is held already.
template <class F>
size_t memory_of(F read) {
    auto const before = held.load();
    most_held = before;
    read();
    return most_held - before;
}

constexpr size_t little = 300'000; // bytes; buffers included

// The memory and the message of a file that is refused.
template <class F>
size_t memory_of_refusal(char const* message, F read) {
    doctest::String said;
    auto const memory = memory_of([&] { said = refusal(read); });
    CHECK(said == Contains(message));
    return memory;
}

io::safetensors_file tensors_in(io::bytes const& content) {
    io::memory_source in{content, "model"};
    return io::safetensors_file{in};
}

io::bytes safetensors(std::string const& header, size_t header_size, size_t data = 0) {
    io::bytes file;
    for (unsigned i = 0; i < 8; ++i) {
        file.push_back(static_cast<unsigned char>(std::uint64_t{header_size} >> 8 * i));
    }
    file.insert(file.end(), header.begin(), header.end());
    file.resize(file.size() + data);
    return file;
}

} // namespace

TEST_CASE("what is no regular file is refused at once by every reader") {
    temporary_directory const directory;
    auto const fifo = directory / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    struct {
        std::string path;
        char const* message;
    } const table[] = {{fifo, "fifo: is a FIFO, expected a regular file"},
                       {"/dev/zero", "castnet: /dev/zero: is a device, expected a regular file"},
                       {directory.path, "is a directory, expected a regular file"}};
    for (auto const& row : table) {
        CHECK(refusal([&] { io::read_file(row.path); }) == Contains(row.message));
        CHECK(refusal([&] { io::read_idx(row.path); }) == Contains(row.message));
        CHECK(refusal([&] { io::load_safetensors(row.path); }) == Contains(row.message));
    }
}

TEST_CASE("a header that announces more than there is costs nothing") {
    temporary_directory const directory;
    io::bytes const idx{0, 0, 8, 1, 0xff, 0xff, 0xff, 0xff, 1, 2, 3};
    auto const path = directory.put("idx", idx);
    CHECK(memory_of_refusal("needs 4294967295 bytes, found 3", [&] { io::read_idx(path); }) <
          little);
    CHECK(memory_of_refusal("header needs 100000000 bytes, found 1",
                            [] { tensors_in(safetensors("{", 100'000'000)); }) < little);
    std::string const huge =
        R"({"a":{"dtype":"U8","shape":[4000000000],"data_offsets":[0,4000000000]}})";
    CHECK(memory_of_refusal("data of the tensors needs 4000000000 bytes, found 5",
                            [&] { tensors_in(safetensors(huge, huge.size(), 5)); }) < little);
}

#ifdef CASTNET_HAS_ZLIB

TEST_CASE("a gzip file that inflates to more than its header announces costs nothing") {
    temporary_directory const directory;
    auto* const bomb = ::gzopen((directory / "bomb").c_str(), "wb1");
    io::bytes const zeros(1 << 20);
    unsigned char const header[] = {0, 0, 8, 1, 0, 0, 0, 20};
    REQUIRE(::gzwrite(bomb, header, sizeof header) == sizeof header);
    for (int i = 0; i < 100; ++i) {
        REQUIRE(::gzwrite(bomb, zeros.data(), 1 << 20) == 1 << 20);
    }
    REQUIRE(::gzclose(bomb) == Z_OK);
    CHECK(memory_of_refusal("byte 28: found more bytes after the data (20 elements of type U8)",
                            [&] { io::read_idx(directory / "bomb"); }) < little);
    CHECK(memory_of_refusal("bomb: holds more than 1000 bytes", [&] {
              io::read_csv(directory / "bomb", {.most_bytes = 1000});
          }) < little);
    CHECK(memory_of_refusal("not of this format",
                            [&] { io::load_safetensors(directory / "bomb"); }) < 2 * little);
}

#endif

TEST_CASE("a header with very many tensors costs what the tensors need") {
    constexpr size_t count = 100'000;
    std::string header = "{";
    for (size_t i = 0; i < count; ++i) {
        append(header, {i == 0 ? "\"t" : ",\"t", count - i,
                        R"(":{"dtype":"U8","shape":[1],"data_offsets":[)", i, ",", i + 1, "]}"});
    }
    header += '}';
    auto const file = safetensors(header, header.size(), count);
    auto const memory = memory_of([&] { CHECK(tensors_in(file).entries().size() == count); });
    CHECK(memory < 2 * count * (sizeof(io::stored_tensor) + sizeof(size_t)) + little);
}

TEST_CASE("a header that would be many times as large in memory is refused") {
    std::string axes = R"({"a":{"dtype":"U8","shape":[1)", keys = R"({"__metadata__":{"0":"")";
    for (size_t i = 1; i < 200'000; ++i) {
        axes += ",1";
        append(keys, {",\"", i, "\":\"\""});
    }
    axes += R"(],"data_offsets":[0,1]}})";
    keys += "}}";
    auto const shape = safetensors(axes, axes.size(), 1);
    auto const metadata = safetensors(keys, keys.size());
    CHECK(memory_of_refusal("expected at most 64 axes in the shape of tensor \"a\"",
                            [&] { tensors_in(shape); }) < 3 * shape.size() + little);
    CHECK(memory_of_refusal("expected at most 65536 keys in __metadata__",
                            [&] { tensors_in(metadata); }) < 5 * metadata.size() + little);
}

TEST_CASE("a file that does not fit into memory says so") {
    temporary_directory const directory;
    io::bytes large{0, 0, 8, 1, 0, 0x4c, 0x4b, 0x40};
    large.resize(8 + 5'000'000);
    auto const idx = directory.put("idx", large);
    std::string const header =
        R"({"a":{"dtype":"U8","shape":[5000000],"data_offsets":[0,5000000]}})";
    auto const model = directory.put("model", safetensors(header, header.size(), 5'000'000));
    // A table and lines of nothing: little text, many places in it.
    auto const commas = directory.put("commas", io::bytes(500'000, ','));
    auto const ends = directory.put("ends", io::bytes(500'000, '\n'));
    auto const message = "does not fit into memory";
    limit = held + 1'000'000;
    auto const file_refusal = refusal([&] { io::read_file(idx); });
    auto const idx_refusal = refusal([&] { io::read_idx(idx); });
    auto const model_refusal = refusal([&] { io::load_safetensors(model); });
    auto const table_refusal = refusal([&] { io::read_csv(commas, {.header = false}); });
    auto const lines_refusal = refusal([&] { io::read_lines(ends); });
    limit = ~size_t{0};
    CHECK(file_refusal == Contains(message));
    CHECK(idx_refusal == Contains(message));
    CHECK(model_refusal == Contains(message));
    CHECK(table_refusal == Contains(message));
    CHECK(lines_refusal == Contains(message));
    CHECK(io::read_idx(idx).data.size() == 5'000'000);
}
