#include <castnet/io/safetensors.hpp>
#include <castnet/io/widen.hpp>

#include "hostile.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

// A file with this header, whatever is in it, and data of this size.
io::bytes file_of(std::string const& header, size_t data) {
    io::bytes file;
    for (unsigned i = 0; i < 8; ++i) {
        file.push_back(static_cast<unsigned char>(std::uint64_t{header.size()} >> 8 * i));
    }
    for (char const c : header) {
        file.push_back(static_cast<unsigned char>(c));
    }
    for (size_t i = 0; i < data; ++i) {
        file.push_back(static_cast<unsigned char>(i));
    }
    return file;
}

io::safetensors_file parse(io::bytes const& content) {
    io::memory_source in{content, "m.safetensors"};
    return io::safetensors_file{in};
}

doctest::String message(std::string const& header, size_t data) {
    return refusal([&] { parse(file_of(header, data)); });
}

std::string entry(std::string const& fields) {
    return "{\"a\":{" + fields + "}}";
}

std::string entry(std::string const& dtype, std::string const& shape, std::string const& offsets) {
    return entry("\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets);
}

float const weights[] = {1, 2, 3, 4, 5, 6};
double const scale = 0.5;
std::uint8_t const flags[] = {1, 0, 1};

std::vector<io::stored_tensor> saved_tensors() {
    return {io::tensor_of("flags", {3}, flags), io::tensor_of("dense.weight", {2, 3}, weights),
            io::tensor_of("scale", {}, &scale), io::tensor_of("empty", {0, 4}, weights),
            io::tensor_of("bias", {1}, weights)};
}

std::string const model_header =
    R"({"__metadata__":{"format":"pt"},"scale":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
    R"("bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
    R"("dense.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[12,36]},)"
    R"("empty":{"dtype":"F32","shape":[0,4],"data_offsets":[36,36]},)"
    R"("flags":{"dtype":"U8","shape":[3],"data_offsets":[36,39]}})";

} // namespace

TEST_CASE("tensors and metadata come back as they were saved") {
    temporary_directory const directory;
    auto const path = directory / "model.safetensors";
    io::save_safetensors(path, saved_tensors(),
                         {{"format", "pt"}, {"note", "a \"b\"\n\\ \x01 \xC3\xA4"}});
    auto const loaded = io::load_safetensors(path);
    CHECK(loaded.file_name() == path);
    CHECK(loaded.metadata().at("note") == "a \"b\"\n\\ \x01 \xC3\xA4");
    CHECK(loaded.metadata().size() == 2);
    REQUIRE(loaded.entries().size() == 5);
    CHECK(loaded.entries()[0].name == "bias");
    for (auto const& saved : saved_tensors()) {
        auto const& tensor = loaded.at(saved.name);
        CHECK(tensor.type == saved.type);
        CHECK(tensor.shape == saved.shape);
        CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), saved.bytes.begin(),
                         saved.bytes.end()));
    }
    CHECK(loaded.find("dense") == nullptr);
    CHECK(loaded.find("zzz") == nullptr);
    CHECK(refusal([&] { (void)loaded.at("dense"); }) ==
          Contains("found no tensor \"dense\" among its 5 tensors, such as \"bias\""));
    CHECK(refusal([&] { loaded.at("weight"); }) == Contains("such as \"dense.weight\""));
}

TEST_CASE("the saved bytes depend on the content alone") {
    temporary_directory const directory;
    auto const path = directory / "model.safetensors";
    auto tensors = saved_tensors();
    io::save_safetensors(path, tensors, {{"format", "pt"}});
    auto const saved = io::read_file(path);
    auto const padding = (8 - model_header.size() % 8) % 8;
    auto expected = file_of(model_header + std::string(padding, ' '), 0);
    for (auto const& name : {"scale", "bias", "dense.weight", "empty", "flags"}) {
        for (auto const& tensor : tensors) {
            if (tensor.name == name) {
                expected.insert(expected.end(), tensor.bytes.begin(), tensor.bytes.end());
            }
        }
    }
    CHECK(saved == expected);
    CHECK((saved.size() - 39) % 8 == 0);
    std::reverse(tensors.begin(), tensors.end());
    io::save_safetensors(path, tensors, {{"format", "pt"}});
    CHECK(io::read_file(path) == saved);
}

TEST_CASE("the elements of a tensor are a column of another type") {
    std::vector<std::int64_t> const labels{3, -1, 1 << 20};
    io::stored_tensor const wide = io::tensor_of("y", {3}, labels.data());
    CHECK(wide.as<int>() == std::vector<int>{3, -1, 1 << 20});
    CHECK(wide.as<float>() == std::vector<float>{3, -1, 1 << 20});
    CHECK_THROWS_WITH_AS(wide.as<unsigned char>(),
                         doctest::Contains("stored_tensor::as of \"y\": element 1 is -1, beyond"),
                         castnet::error);
    std::vector<unsigned char> const bytes{0x00, 0x3C, 0x80, 0x3F};
    CHECK(io::stored_tensor{"h", io::dtype::f16, {2}, bytes}.as<float>() ==
          std::vector<float>{1, 1.875F});
    CHECK(io::stored_tensor{"b", io::dtype::bf16, {1}, std::span{bytes}.subspan(2)}.as<double>() ==
          std::vector<double>{1});
    CHECK_THROWS_WITH_AS((io::stored_tensor{"f", io::dtype::f8_e4m3, {4}, bytes}.as<float>()),
                         doctest::Contains("the elements are F8_E4M3"), castnet::error);
}

TEST_CASE("a tensor of a temporary file keeps its bytes") {
    temporary_directory const directory;
    auto const path = directory / "x.safetensors";
    std::vector<float> const x{1, 2, 3};
    io::save_safetensors(path, std::vector{io::tensor_of("x", {3}, x.data())});
    auto const& kept = io::load_safetensors(path).at("x");
    CHECK(kept.as<float>() == x);
    auto value = io::load_safetensors(path).at("x");
    auto const moved = std::move(value);
    CHECK(moved.as<float>() == x);
    static_assert(!std::is_copy_constructible_v<io::kept_tensor>);
    CHECK_THROWS_WITH_AS(io::load_safetensors(path).at("y"),
                         doctest::Contains("found no tensor \"y\" among its 1 tensor"),
                         castnet::file_error);
}

TEST_CASE("a loop over the tensors of a temporary file has their bytes") {
    temporary_directory const directory;
    auto const path = directory / "x.safetensors";
    std::vector<float> const x(1000, 1), y(2000, 2);
    io::save_safetensors(
        path,
        std::vector{io::tensor_of("x", {1000}, x.data()), io::tensor_of("y", {2000}, y.data())},
        {{"by", "hand"}});
    std::vector<std::vector<float>> found;
    for (io::stored_tensor const& each : io::load_safetensors(path).entries()) {
        found.push_back(each.as<float>());
    }
    CHECK(found == std::vector{x, y});
    auto value = io::load_safetensors(path).entries();
    auto const moved = std::move(value);
    CHECK(moved[1].as<float>() == y);
    static_assert(!std::is_copy_constructible_v<io::kept_tensors>);
    for (auto const& [key, text] : io::load_safetensors(path).metadata()) {
        CHECK(key + text == "byhand");
    }
}

TEST_CASE("a file without tensors is a valid file") {
    temporary_directory const directory;
    auto const path = directory / "empty.safetensors";
    io::save_safetensors(path, {});
    CHECK(io::read_file(path) == file_of("{}      ", 0));
    CHECK(io::load_safetensors(path).entries().empty());
}

TEST_CASE("every dtype is recognised with its size") {
    for (auto const& info : io::dtypes) {
        auto const size = std::to_string(3 * info.size);
        auto const loaded =
            parse(file_of(entry(info.name, "[3]", "[0," + size + "]"), 3 * info.size));
        CHECK(loaded.at("a").type == info.type);
        CHECK(io::name_of(loaded.at("a").type) == info.name);
        CHECK(loaded.at("a").bytes.size() == 3 * info.size);
    }
    CHECK(io::dtype_of<long long> == io::dtype::i64);
    CHECK(io::dtype_of<std::uint16_t> == io::dtype::u16);
    CHECK(io::dtype_of<bool> == io::dtype::boolean);
    CHECK(io::dtype_of<float> == io::dtype::f32);
}

TEST_CASE("any JSON that means the same is accepted") {
    auto const spaced = parse(file_of(
        "{ \"a\" :\t{\r\n\"data_offsets\":[ 0 , 2 ],\"shape\" : [ ] , \"dtype\":\"F16\" } }\n  ",
        2));
    CHECK(spaced.at("a").shape.empty());
    auto const escaped = parse(file_of(
        R"({"\u0061\/\"\\\b\f\n\r\t\u00e4\u20AC\ud83d\ude00":{"dtype":"U\u0038","shape":[1],"data_offsets":[0,1]}})",
        1));
    CHECK(escaped.entries()[0].name == "a/\"\\\b\f\n\r\t\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(
        parse(file_of(R"({"__metadata__":{},"":{"dtype":"U8","shape":[1,0],"data_offsets":[0,0]}})",
                      0))
            .entries()[0]
            .name.empty());
    // Any order of the tensors, and empty ones anywhere between.
    auto const mixed = parse(file_of(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
                                     R"("e":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},)"
                                     R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                     2));
    CHECK(mixed.at("b").bytes[0] == 1);
}

TEST_CASE("a damaged start is refused") {
    auto const start = [](io::bytes const& content) { return refusal([&] { parse(content); }); };
    CHECK(start({}) ==
          Contains("byte 0: the size of the safetensors header needs 8 bytes, found 0"));
    CHECK(start({0, 0, 0, 0, 0, 0, 0, 0}) == Contains("byte 8: found the end of the header"));
    CHECK(
        start({255, 255, 255, 255, 255, 255, 255, 255}) ==
        Contains("found a header size of 18446744073709551615 bytes, expected at most 100000000"));
    CHECK(start({1, 225, 245, 5, 0, 0, 0, 0}) == Contains("found a header size of 100000001"));
    CHECK(start({0, 225, 245, 5, 0, 0, 0, 0}) ==
          Contains("byte 8: the safetensors header needs 100000000 bytes, found 0"));
    CHECK(start(bytes_of("PK\3\4 a zip file, as PyTorch's .pt")) ==
          Contains("this is not a safetensors file, but a ZIP archive, as torch.save writes it"));
    CHECK(start(bytes_of("version https://git-lfs.github.com/spec/v1")) ==
          Contains("this is not a safetensors file, but a pointer of Git LFS: git lfs pull"));
    CHECK(start(bytes_of("\x89HDF\r\n\x1a\n")) ==
          Contains("this is not a safetensors file, but an HDF5 file"));
}

TEST_CASE("a header that breaks the format is refused with the place and what was expected") {
    struct {
        std::string header;
        size_t data;
        char const* message;
    } const table[] = {
        {" {}", 0, "byte 8: found byte value 32, expected '{' at the very start"},
        {"[]", 0, "byte 8: found '[', expected '{'"},
        {"{", 0, "byte 9: found the end of the header, expected '\"' for a key of the header"},
        {"{}x", 0, "byte 10: found 'x', expected nothing after the closing brace"},
        {"{} {}", 0, "expected nothing after the closing brace"},
        {std::string("{}\0", 3), 0, "found byte value 0, expected nothing"},
        {"{,}", 0, "byte 9: found ','"},
        {"{\"a\"}", 0, "expected ':' for the value of \"a\""},
        {"{\"a\":null}", 0, "found 'n', expected '{' for tensor \"a\""},
        {"{\"a\":" + std::string(100'000, '['), 0, "found '[', expected '{' for tensor \"a\""},
        {std::string(1, '{') + "\"a\":" + std::string(100'000, '{'), 0, "expected '\"'"},
        {entry("U8", "[[1]]", "[0,1]"), 1, "found '[', expected a whole number"},
        {entry("U8", "[1]", "[0,1]") + ",", 1, "expected nothing after"},
        {entry("U8", "[1,]", "[0,1]"), 1, "found ']', expected a whole number"},
        {entry("U8", "[-1]", "[0,1]"), 1, "found '-', expected a whole number without sign"},
        {entry("U8", "[1.0]", "[0,1]"), 1, "found '.', expected ']'"},
        {entry("U8", "[1e0]", "[0,1]"), 1, "found 'e', expected ']'"},
        {entry("U8", "[01]", "[0,1]"), 1, "found '1', expected ']'"},
        {entry("U8", "[\"1\"]", "[0,1]"), 1, "expected a whole number"},
        {entry("U8", "1", "[0,1]"), 1, "found '1', expected '[' for the shape of tensor \"a\""},
        {entry("U8", "[18446744073709551616]", "[0,1]"), 1, "to fit into 64 bits"},
        {entry("U8", "[1]", "[0,1,1]"), 1,
         "expected two numbers in the data_offsets of tensor \"a\""},
        {entry("U8", "[1]", "[0]"), 1, "two data_offsets"},
        {entry("F17", "[1]", "[0,1]"), 1, "\"F17\", to be one of BOOL, U8,"},
        {entry("u8", "[1]", "[0,1]"), 1, "to be one of"},
        {entry("\"dtype\":8,\"shape\":[1]"), 1, "found '8', expected '\"' for the dtype"},
        {entry("\"dtype\":\"U8\",\"shape\":[1]"), 1, "dtype, shape and two data_offsets"},
        {entry(""), 0, "dtype, shape and two data_offsets in tensor \"a\""},
        {entry(R"("dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0])"), 0,
         "each once, not \"shape\""},
        {entry(R"("dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1)"), 0, "not \"x\""},
        {R"({"__metadata__":{"a":1}})", 0, "expected '\"' for the value of \"a\""},
        {R"({"__metadata__":{"a":"1","a":"1"}})", 0, "expected \"a\" once in __metadata__"},
        {R"({"__metadata__":{},"__metadata__":{}})", 0, "expected __metadata__ once"},
        {R"({"__metadata__":null})", 0, "expected '{' for __metadata__"},
        {"{\"a\\x\":", 0, "found 'x', expected one of the escapes"},
        {"{\"\\u12g4\":", 0, "found 'g', expected four hexadecimal digits"},
        {"{\"\\ud800\":", 0, "surrogates in pairs"},
        {"{\"\\ud800\\u0041\":", 0, "surrogates in pairs"},
        {"{\"\\udc00\":", 0, "surrogates in pairs"},
        {"{\"\\u1", 0, "found the end of the header"},
        {"{\"\n\":", 0, "found byte value 10, expected control characters to be escaped"},
        {"{\"\xff\":", 0, "valid UTF-8"},
        {"{\"\xC0\xAF\":", 0, "valid UTF-8"},
        {"{\"\xE0\x80\xAF\":", 0, "valid UTF-8"},
        {"{\"\xED\xA0\x80\":", 0, "valid UTF-8"},
        {"{\"\xF4\x90\x80\x80\":", 0, "valid UTF-8"},
        {"{\"\xC3\":", 0, "valid UTF-8"},
    };
    for (auto const& row : table) {
        CAPTURE(row.header.substr(0, 100));
        CHECK(message(row.header, row.data) == Contains(row.message));
        CHECK(message(row.header, row.data) == Contains("castnet: m.safetensors: "));
    }
}

TEST_CASE("tensors that do not tile the data are refused") {
    auto const two = [](std::string const& first, std::string const& second) {
        return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + first +
               R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
    };
    struct {
        std::string header;
        size_t data;
        char const* message;
    } const table[] = {
        {two("[0,2]", "[1,3]"), 3,
         "tensor \"b\": found data_offsets [1, 3], expected them to begin at 2"},
        {two("[0,2]", "[0,2]"), 2, "found data_offsets [0, 2], expected them to begin at 2"},
        {two("[0,2]", "[3,5]"), 5, "expected them to begin at 2"},
        {two("[1,3]", "[3,5]"), 5, "expected them to begin at 0"},
        {two("[0,2]", "[2,4]"), 3, "the data of the tensors needs 4 bytes, found 3"},
        {two("[0,2]", "[2,4]"), 5, "byte 117: found more bytes after the data of the tensors"},
        {two("[0,2]", "[2,1]"), 4, "expected as many bytes as its shape"},
        {two("[0,2]", "[2,18446744073709551615]"), 4, "expected as many bytes as its shape"},
        {"{}", 1, "found more bytes after the data"},
        {entry("U8", "[3]", "[0,2]"), 2,
         "expected as many bytes as its shape and its dtype U8 need"},
        {entry("F32", "[2]", "[0,2]"), 2, "dtype F32 need"},
        {entry("U8", "[]", "[0,0]"), 0, "dtype U8 need"},
        {entry("F64", "[2305843009213693952]", "[0,0]"), 0, "dtype F64 need"},
        {entry("U8", "[4294967296,4294967296]", "[0,0]"), 0, "dtype U8 need"},
        {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
         2, "found tensor \"a\" twice"},
    };
    for (auto const& row : table) {
        CAPTURE(row.header);
        CHECK(message(row.header, row.data) == Contains(row.message));
    }
}

TEST_CASE("a message shows hostile names without control characters and not endless") {
    auto const text = message("{\"" + std::string(50'000, 'n') + "\":1}", 0);
    CHECK(text.size() < 300);
    CHECK(message(R"({"\u001b[2J":1})", 0) == Contains("tensor \"\\x1b[2J\""));
    // a terminal's escape as UTF-8, and what stands for it in eight bits
    CHECK(message("{\"\xC2\x9B 31m\\u007f\":1}", 0) == Contains("\"\\xc2\\x9b 31m\\x7f\""));
    auto const field = message(entry("\"" + std::string(100'000, 'f') + "\":1"), 0);
    CHECK(field.size() < 400);
    CHECK(message(entry("\"\\u001b[2J\":1"), 0) == Contains("not \"\\x1b[2J\""));
}

TEST_CASE("what cannot be saved is refused and the old file stays") {
    temporary_directory const directory;
    auto const path = directory.put("model", bytes_of("old"));
    auto const save = [&](std::vector<io::stored_tensor> const& tensors,
                          io::safetensors_metadata const& metadata = {}) {
        return refusal([&] { io::save_safetensors(path, tensors, metadata); });
    };
    auto const a = io::tensor_of("a", {1}, weights);
    CHECK(save({a, a}) == Contains("found tensor \"a\" twice"));
    CHECK(save({a, io::tensor_of("a", {0}, weights)}) == Contains("found tensor \"a\" twice"));
    CHECK(save({io::tensor_of("__metadata__", {1}, weights)}) == Contains("no tensor may be"));
    CHECK(save({io::tensor_of("\xff", {1}, weights)}) == Contains("must be UTF-8"));
    CHECK(save({a}, {{"key", "\xff"}}) == Contains("must be UTF-8"));
    CHECK(save({{"b", io::dtype::f32, {2}, a.bytes}}) ==
          Contains("\"b\": found 4 bytes, expected as many as its shape and its dtype F32 need"));
    std::vector<size_t> const axes(65, 1);
    CHECK(save({io::stored_tensor{"c", io::dtype::f32, axes, a.bytes}}) ==
          Contains("\"c\": found 65 axes, expected at most 64"));
    io::safetensors_metadata keys;
    for (int i = 0; i <= 65'536; ++i) {
        keys[std::to_string(i)];
    }
    CHECK(save({a}, keys) == Contains("found 65537 keys of metadata, expected at most 65536"));
    CHECK(io::read_file(path) == bytes_of("old"));
    CHECK(directory.names().size() == 1);
}

TEST_CASE("safetensors: every truncation is refused") {
    temporary_directory const directory;
    auto const path = directory / "model";
    io::save_safetensors(path, saved_tensors());
    check_truncations(io::read_file(path), parse);
}

TEST_CASE("safetensors: a mutated file loads or is refused") {
    temporary_directory const directory;
    auto const path = directory / "model";
    io::save_safetensors(path, saved_tensors(), {{"format", "pt"}});
    auto const refused =
        check_mutations(io::read_file(path), 3, 8000, [](io::bytes const& damaged) {
            unsigned sum = 0;
            auto const loaded = parse(damaged);
            for (auto const& tensor : loaded.entries()) {
                for (auto const byte : tensor.bytes) { // a sanitizer sees views that leave the file
                    sum += byte;
                }
            }
            CHECK(sum < 256 * damaged.size());
        });
    CHECK(refused > 4000);
    CHECK(refused < 8000);
}

TEST_CASE("a loaded file can be moved") {
    temporary_directory const directory;
    auto const path = directory / "model";
    io::save_safetensors(path, saved_tensors());
    auto first = io::load_safetensors(path);
    auto const second = std::move(first);
    float value = 0;
    std::memcpy(&value, second.at("dense.weight").bytes.data() + 20, 4);
    CHECK(value == 6.0F);
}

TEST_CASE("binary16 numbers have the values that IEEE 754 gives them") {
    using io::detail::float_of_half;
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) { // finite ones that are not negative
        int const exponent = int(bits >> 10);
        float const fraction = float(bits & 0x3ff) / 1024;
        float const value =
            exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
        CHECK(float_of_half(std::uint16_t(bits)) == value);
        CHECK(float_of_half(std::uint16_t(bits | 0x8000)) == -value);
    }
    CHECK(std::signbit(float_of_half(0x8000)));
    CHECK(float_of_half(0xfc00) == -std::numeric_limits<float>::infinity());
    CHECK(std::isnan(float_of_half(0x7e00)));
}
