// The JSON header of a safetensors file: parsed, checked, written.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/json.hpp>
#include <castnet/io/detail/sorted.hpp>
#include <castnet/io/stored_tensor.hpp>

#include <map>

namespace castnet::io {

// Free text that travels with the tensors.
using safetensors_metadata = std::map<std::string, std::string>;

namespace detail {

inline constexpr size_t largest_header = 100'000'000; // the format's own limit, in bytes

struct safetensors_entry {
    std::string name;
    dtype type{};
    std::vector<size_t> shape;
    size_t begin = 0, end = 0; // bytes of the data
};

struct safetensors_header {
    std::vector<safetensors_entry> entries;
    safetensors_metadata metadata;
};

[[gnu::cold]] inline dtype parse_dtype(json_reader& json, std::string const& tensor) {
    auto const name = json.string(string_of({"the dtype of ", tensor}));
    for (auto const& known : dtypes) {
        if (name == known.name) {
            return known.type;
        }
    }
    std::string all;
    for (auto const& known : dtypes) {
        append(all, {all.empty() ? "" : ", ", known.name});
    }
    json.fail({"the dtype of ", tensor, " before this, ", shown(name), ", to be one of ", all});
}

[[gnu::cold]] inline safetensors_entry parse_entry(json_reader& json, std::string const& name) {
    auto const tensor = string_of({"tensor ", shown(name)});
    safetensors_entry entry;
    entry.name = name;
    std::vector<size_t> offsets;
    unsigned seen = 0;
    json.object(tensor, [&](std::string const& field) {
        unsigned const bit = field == "dtype"          ? 1
                             : field == "shape"        ? 2
                             : field == "data_offsets" ? 4
                                                       : 0;
        if (bit == 0 || (seen & bit) != 0) {
            json.fail(
                {"dtype, shape and data_offsets of ", tensor, ", each once, not \"", field, "\""});
        }
        seen |= bit;
        if (bit == 1) {
            entry.type = parse_dtype(json, tensor);
            return;
        }
        auto const what = string_of({"the ", field, " of ", tensor});
        auto& numbers = bit == 2 ? entry.shape : offsets;
        json.array(what, [&] { numbers.push_back(json.integer(what)); });
    });
    if (seen != 7 || offsets.size() != 2) {
        json.fail({"dtype, shape and two data_offsets in ", tensor, " before this"});
    }
    entry.begin = offsets[0];
    entry.end = offsets[1];
    return entry;
}

[[gnu::cold]] inline safetensors_header parse_header(std::string_view text,
                                                     std::string const& file) {
    json_reader json{text, file, 8};
    if (text.empty() || text[0] != '{') {
        json.fail({"'{' at the very start of the header; this is not a safetensors file"});
    }
    safetensors_header header;
    bool has_metadata = false;
    json.object("the header", [&](std::string const& name) {
        if (name != "__metadata__") {
            header.entries.push_back(parse_entry(json, name));
            return;
        }
        if (has_metadata) {
            json.fail({"__metadata__ once"});
        }
        has_metadata = true;
        json.object(name, [&](std::string const& key) {
            auto const value = json.string(string_of({"the value of ", shown(key)}));
            if (!header.metadata.emplace(key, value).second) {
                json.fail({shown(key), " once in __metadata__"});
            }
        });
    });
    json.end();
    return header;
}

// Checks that the entries cover `size` bytes of data without hole or overlap, each with as many as
// its type and shape need, and that no name occurs twice; sorts them by name.
[[gnu::cold]] inline void check_header(safetensors_header& header, size_t size,
                                       std::string const& file) {
    auto const by_place =
        sorted<safetensors_entry>(header.entries, [](auto const& a, auto const& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
        });
    size_t next = 0;
    for (safetensors_entry const* const entry : by_place) {
        auto const refuse = [&](std::initializer_list<text_piece> expected) {
            throw file_error(file,
                             {"tensor ", shown(entry->name), ": found data_offsets [", entry->begin,
                              ", ", entry->end, "], expected ", string_of(expected)});
        };
        size_t needed = 0;
        if (entry->begin != next) {
            refuse({"them to begin at ", next, ", where the tensor before ends"});
        }
        if (entry->end < entry->begin || entry->end > size) {
            refuse(
                {"them to lie in the ", size, " bytes of data; the file is cut short or damaged"});
        }
        if (!byte_count(entry->type, entry->shape, needed) || needed != entry->end - entry->begin) {
            refuse({"as many bytes as its shape and its dtype ", name_of(entry->type), " need"});
        }
        next = entry->end;
    }
    if (next != size) {
        throw file_error(file, {"found ", size, " bytes of data, expected ", next,
                                ", the end of the last tensor"});
    }
    auto const by_name = sorted<safetensors_entry>(
        header.entries, [](auto const& a, auto const& b) { return a.name < b.name; });
    std::vector<safetensors_entry> entries;
    for (safetensors_entry* const entry : by_name) {
        if (!entries.empty() && entries.back().name == entry->name) {
            throw file_error(
                file, {"found tensor ", shown(entry->name), " twice, expected every name once"});
        }
        entries.push_back(std::move(*entry));
    }
    header.entries = std::move(entries);
}

[[gnu::cold]] inline std::string header_member(std::string_view text, std::string const& file) {
    if (!is_utf8(text)) {
        throw file_error(file, {"names and metadata must be UTF-8, found ", shown(text)});
    }
    return json_string(text);
}

// The header for tensors in this order; padded with spaces to a multiple of 8 bytes.
[[gnu::cold]] inline std::string header_text(std::span<stored_tensor const* const> tensors,
                                             safetensors_metadata const& metadata,
                                             std::string const& file) {
    safetensors_header header; // what a reader will see
    std::string text = "{";
    if (!metadata.empty()) {
        text += "\"__metadata__\":";
        char before = '{';
        for (auto const& [key, value] : metadata) {
            append(text, {before, header_member(key, file), ':', header_member(value, file)});
            before = ',';
        }
        text += '}';
    }
    size_t begin = 0;
    for (auto const* tensor : tensors) {
        if (tensor->name == "__metadata__") {
            throw file_error(file, "no tensor may be called __metadata__");
        }
        auto const end = begin + tensor->bytes.size();
        append(text, {text.size() > 1 ? "," : "", header_member(tensor->name, file),
                      ":{\"dtype\":\"", name_of(tensor->type), "\",\"shape\":["});
        for (size_t axis = 0; axis < tensor->shape.size(); ++axis) {
            append(text, {axis == 0 ? "" : ",", tensor->shape[axis]});
        }
        append(text, {"],\"data_offsets\":[", begin, ',', end, "]}"});
        header.entries.push_back({tensor->name, tensor->type, tensor->shape, begin, end});
        begin = end;
    }
    check_header(header, begin, file);
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    if (text.size() > largest_header) {
        throw file_error(file, {"the names and the metadata need a header of ", text.size(),
                                " bytes, more than the ", largest_header, " of the format"});
    }
    return text;
}

} // namespace detail
} // namespace castnet::io
