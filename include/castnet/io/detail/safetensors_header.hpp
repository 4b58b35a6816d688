// The JSON header of a safetensors file: parsed, checked, written.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/json.hpp>
#include <castnet/io/detail/sorted.hpp>
#include <castnet/io/safetensors_metadata.hpp>
#include <castnet/io/stored_tensor.hpp>

namespace castnet::io::detail {

inline constexpr size_t largest_header = 100'000'000;  // the format's own limit, in bytes
inline constexpr std::uint32_t zip_start = 0x04034b50; // "PK\3\4"

// No writer comes near these; without them a header would need many times its size in memory.
inline constexpr size_t most_axes = 64;
inline constexpr size_t most_metadata = 65536; // keys

// Range of a tensor's bytes in the data.
struct tensor_place {
    size_t begin, end;
    size_t tensor; // its number in the header
};

struct safetensors_header {
    std::vector<stored_tensor> tensors; // without their bytes
    std::vector<tensor_place> places;
    safetensors_metadata metadata;
};

[[gnu::noinline]] inline dtype parse_dtype(json_reader& json, std::string_view tensor) {
    auto const name = json.string({"the dtype of tensor ", tensor});
    for (auto const& known : dtypes) {
        if (name == known.name) {
            return known.type;
        }
    }
    std::string all;
    for (auto const& known : dtypes) {
        append(all, {all.empty() ? "" : ", ", known.name});
    }
    json.fail({"the dtype of tensor ", shown(tensor), " before this, ", shown(name),
               ", to be one of ", all});
}

[[gnu::noinline]] inline void parse_tensor(json_reader& json, std::string name,
                                           safetensors_header& header) {
    stored_tensor tensor{std::move(name), {}, {}, {}};
    size_t offsets[2], offset_count = 0;
    unsigned seen = 0;
    json.object({"tensor ", tensor.name}, [&](std::string const& field) {
        unsigned const bit = field == "dtype"          ? 1
                             : field == "shape"        ? 2
                             : field == "data_offsets" ? 4
                                                       : 0;
        if (bit == 0 || (seen & bit) != 0) {
            json.fail({"dtype, shape and data_offsets of tensor ", shown(tensor.name),
                       ", each once, not ", shown(field)});
        }
        seen |= bit;
        if (bit == 1) {
            tensor.type = parse_dtype(json, tensor.name);
        } else if (bit == 2) {
            json_place const what{"the shape of tensor ", tensor.name};
            json.array(what, [&] {
                if (tensor.shape.size() == most_axes) {
                    json.fail({"at most ", most_axes, " axes in ", json.text_of(what)});
                }
                tensor.shape.push_back(json.integer(what));
            });
        } else {
            json_place const what{"the data_offsets of tensor ", tensor.name};
            json.array(what, [&] {
                if (offset_count == 2) {
                    json.fail({"two numbers in ", json.text_of(what)});
                }
                offsets[offset_count++] = json.integer(what);
            });
        }
    });
    if (seen != 7 || offset_count != 2) {
        json.fail(
            {"dtype, shape and two data_offsets in tensor ", shown(tensor.name), " before this"});
    }
    header.places.push_back({offsets[0], offsets[1], header.tensors.size()});
    header.tensors.push_back(std::move(tensor));
}

// The header, which takes up the next `size` bytes.
[[gnu::noinline]] inline safetensors_header parse_header(source& in, size_t size) {
    in.check_remaining(size, "the safetensors header");
    json_reader json{in, size};
    if (json.peek() != '{') {
        json.fail({"'{' at the very start of the header; this is not a safetensors file"});
    }
    safetensors_header header;
    constexpr size_t smallest_tensor = 50; // bytes of the header: "":{"dtype":"U8","shape":[],…
    header.tensors.reserve(size / smallest_tensor);
    header.places.reserve(size / smallest_tensor);
    bool has_metadata = false;
    json.object({"the header"}, [&](std::string& name) {
        if (name != "__metadata__") {
            parse_tensor(json, std::move(name), header);
            return;
        }
        if (has_metadata) {
            json.fail({"__metadata__ once"});
        }
        has_metadata = true;
        json.object({"__metadata__"}, [&](std::string& key) {
            if (header.metadata.size() == most_metadata) {
                json.fail({"at most ", most_metadata, " keys in __metadata__"});
            }
            auto value = json.string({"the value of ", key});
            if (header.metadata.contains(key)) {
                json.fail({shown(key), " once in __metadata__"});
            }
            header.metadata.emplace(std::move(key), std::move(value));
        });
    });
    json.end();
    return header;
}

[[gnu::noinline]] inline bool fills_shape(stored_tensor const& tensor, size_t size) {
    size_t needed = 0;
    return byte_count(tensor.type, tensor.shape, needed) && needed == size;
}

// Checks that the tensors lie one after the other without hole or overlap, each with as many bytes
// as its type and shape need. Returns where the last one ends.
[[gnu::noinline]] inline size_t check_places(safetensors_header& header, std::string const& file) {
    auto& places = header.places;
    auto const compare = [](void const* left, void const* right) {
        auto const& a = *static_cast<tensor_place const*>(left);
        auto const& b = *static_cast<tensor_place const*>(right);
        if (a.begin != b.begin) {
            return a.begin < b.begin ? -1 : 1;
        }
        return a.end < b.end ? -1 : int(a.end > b.end);
    };
    if (!places.empty()) { // qsort wants no null pointer
        std::qsort(places.data(), places.size(), sizeof(tensor_place), compare);
    }
    size_t next = 0;
    for (size_t i = 0; i < places.size(); ++i) {
        auto const& place = places[i];
        auto const& tensor = header.tensors[place.tensor];
        auto const refuse = [&](std::initializer_list<text_piece> expected) {
            throw file_error(file,
                             {"tensor ", shown(tensor.name), ": found data_offsets [", place.begin,
                              ", ", place.end, "], expected ", string_of(expected)});
        };
        if (place.begin != next) {
            refuse({"them to begin at ", next, ", where the tensor before ends"});
        }
        if (place.end < place.begin || !fills_shape(tensor, place.end - place.begin)) {
            refuse({"as many bytes as its shape and its dtype ", name_of(tensor.type), " need"});
        }
        next = place.end;
    }
    return next;
}

struct by_name {
    int operator()(stored_tensor const& a, stored_tensor const& b) const {
        return a.name.compare(b.name);
    }
};

// Throws file_error where both have the same name.
[[gnu::noinline]] inline void check_names(stored_tensor const& a, stored_tensor const& b,
                                          std::string const& file) {
    if (a.name == b.name) {
        throw file_error(file,
                         {"found tensor ", shown(a.name), " twice, expected every name once"});
    }
}

[[gnu::noinline]] inline std::string header_member(std::string_view text, std::string const& file) {
    if (!is_utf8(text)) {
        throw file_error(file, {"names and metadata must be UTF-8, found ", shown(text)});
    }
    return json_string(text);
}

// The header for tensors in this order; padded with spaces to a multiple of 8 bytes.
[[gnu::noinline]] inline std::string header_text(std::vector<stored_tensor const*> const& tensors,
                                                 safetensors_metadata const& metadata,
                                                 std::string const& file) {
    std::string text = "{";
    if (metadata.size() > most_metadata) {
        throw file_error(file, {"found ", metadata.size(), " keys of metadata, expected at most ",
                                most_metadata, ", which the reader takes"});
    }
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
        if (tensor->shape.size() > most_axes) {
            throw file_error(file,
                             {"tensor ", shown(tensor->name), ": found ", tensor->shape.size(),
                              " axes, expected at most ", most_axes, ", which the reader takes"});
        }
        auto const end = begin + tensor->bytes.size();
        append(text, {text.size() > 1 ? "," : "", header_member(tensor->name, file),
                      ":{\"dtype\":\"", name_of(tensor->type), "\",\"shape\":["});
        for (size_t axis = 0; axis < tensor->shape.size(); ++axis) {
            append(text, {axis == 0 ? "" : ",", tensor->shape[axis]});
        }
        append(text, {"],\"data_offsets\":[", begin, ',', end, "]}"});
        if (!fills_shape(*tensor, tensor->bytes.size())) {
            throw file_error(file,
                             {"tensor ", shown(tensor->name), ": found ", tensor->bytes.size(),
                              " bytes, expected as many as its shape and its dtype ",
                              name_of(tensor->type), " need"});
        }
        begin = end;
    }
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    if (text.size() > largest_header) {
        throw file_error(file, {"the names and the metadata need a header of ", text.size(),
                                " bytes, more than the ", largest_header, " of the format"});
    }
    return text;
}

} // namespace castnet::io::detail
