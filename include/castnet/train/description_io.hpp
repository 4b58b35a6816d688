// A model's description in the metadata of its files: "castnet.classes", a JSON array of names,
// "castnet.mean" and "castnet.deviation", numbers.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/from_chars.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/description.hpp>
#include <castnet/io/detail/json.hpp>
#include <castnet/io/safetensors_metadata.hpp>

#include <charconv>
#include <utility>

namespace castnet::detail {

void add_description(io::safetensors_metadata& metadata, data::description const& d);

// Writes the description in a file's metadata to `found`, if there is one. Throws file_error for
// one that add_description() does not write.
void find_description(io::safetensors_metadata const& metadata, std::string const& file,
                      data::description& found);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

[[gnu::noinline]] inline std::string text_of_numbers(std::vector<double> const& numbers) {
    std::string all;
    for (double const x : numbers) {
        char digits[32]; // the fewest that read back as the same double
        all += all.empty() ? "" : " ";
        all.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
    }
    return all;
}

[[gnu::noinline]] inline void add_description(io::safetensors_metadata& metadata,
                                              data::description const& d) {
    if (!d.classes.empty()) {
        std::string names;
        for (std::string const& name : d.classes) {
            append(names, {names.empty() ? "[" : ",", io::detail::json_string(name)});
        }
        names += ']';
        metadata["castnet.classes"] = std::move(names);
    }
    if (!d.channels.mean.empty()) {
        metadata["castnet.mean"] = text_of_numbers(d.channels.mean);
        metadata["castnet.deviation"] = text_of_numbers(d.channels.deviation);
    }
}

[[gnu::noinline]] inline void find_description(io::safetensors_metadata const& metadata,
                                               std::string const& file, data::description& found) {
    auto const text = [&](char const* key) -> std::string const* {
        auto const at = metadata.find(key);
        return at == metadata.end() ? nullptr : &at->second;
    };
    auto const numbers = [&](char const* key) {
        std::vector<double> all;
        std::string const* const s = text(key);
        char const* at = s == nullptr ? nullptr : s->data();
        char const* const end = s == nullptr ? nullptr : at + s->size();
        while (at != end) {
            double x = 0;
            auto const [rest, failure] = from_chars(at, end, x);
            if (failure != std::errc{} || !is_finite(x) || (rest != end && *rest != ' ')) {
                throw file_error(file, {"its metadata has ", io::detail::shown(*s), " for '", key,
                                        "', expected finite numbers"});
            }
            all.push_back(x);
            at = rest == end ? end : rest + 1;
        }
        return all;
    };
    data::description d;
    if (std::string const* const names = text("castnet.classes"); names != nullptr) {
        io::memory_source in{{reinterpret_cast<unsigned char const*>(names->data()), names->size()},
                             string_of({file, ", castnet.classes of its metadata"})};
        io::detail::json_reader json{in, names->size()};
        json.array({"the names of classes"},
                   [&] { d.classes.push_back(json.string({"the name of a class"})); });
        json.end();
    }
    d.channels = {numbers("castnet.mean"), numbers("castnet.deviation")};
    if (d.channels.mean.size() != d.channels.deviation.size()) {
        throw file_error(file, {"its metadata has ", quantity(d.channels.mean.size(), "mean"),
                                " and ", quantity(d.channels.deviation.size(), "deviation")});
    }
    if (!(d == data::description{})) {
        found = std::move(d);
    }
}

#endif

} // namespace castnet::detail
