// Everything in a checkpoint but the times that epochs took.
#pragma once

#include <castnet/io/safetensors.hpp>

#include <string>

namespace check {

inline std::string content_without_times(std::string const& file) {
    auto const stored = castnet::io::load_safetensors(file);
    auto metadata = stored.metadata();
    int const columns = std::stoi(metadata["castnet.history.columns"]);
    metadata.erase("castnet.history." + std::to_string(columns - 2)); // seconds
    metadata.erase("castnet.history." + std::to_string(columns - 1)); // waiting
    metadata.erase("castnet.fit.seconds");
    metadata.erase("castnet.crc32c"); // of the times, too
    std::string all;
    for (auto const& [key, value] : metadata) {
        all += key + '=' + value + '\n';
    }
    for (auto const& t : stored.entries()) {
        all += t.name;
        all.append(reinterpret_cast<char const*>(t.bytes.data()), t.bytes.size());
    }
    return all;
}

} // namespace check
