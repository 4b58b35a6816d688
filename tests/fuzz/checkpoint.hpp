// Fuzz target: checkpoints that are whole as files and wrong in what they say.
//
// The input has lines that change a good checkpoint: "key=value" sets an entry of the metadata,
// "!key" removes one, and "#n=bytes" overwrites the beginning of tensor number n (a digit).
#pragma once

#include <castnet/castnet.hpp>

#include "readers.hpp"

#include <cstring>

namespace castnet::fuzz {

struct small_training {
    using network = sequential<input<2>, dense<3>, batch_norm, dense<2>>;
    using model_type = model<network, policy::cpu, batch<4>>;

    model_type model{seed{1}};
    decltype(compile(model, cross_entropy, adam{}, accuracy)) training =
        compile(model, cross_entropy, adam{}, accuracy);
};

// What the input makes of the good checkpoint, at `path`.
inline void write_changed(io::safetensors_file const& good, std::string_view changes,
                          std::string const& path) {
    auto metadata = good.metadata();
    auto tensors = good.entries();
    std::vector<io::bytes> changed_bytes(10);
    while (!changes.empty()) {
        auto const line = changes.substr(0, changes.find('\n'));
        changes.remove_prefix(std::min(line.size() + 1, changes.size()));
        auto const equals = std::min(line.find('='), line.size());
        auto const key = std::string{line.substr(0, equals)};
        auto const value = line.substr(std::min(equals + 1, line.size()));
        auto const number = key.size() == 2 ? static_cast<size_t>(key[1] - '0') : tensors.size();
        if (line.starts_with('!')) {
            metadata.erase(key.substr(1));
        } else if (line.starts_with('#') && number < std::min<size_t>(10, tensors.size())) {
            auto const old = tensors[number].bytes;
            auto& bytes = changed_bytes[number] = {old.begin(), old.end()};
            std::memcpy(bytes.data(), value.data(), std::min(value.size(), bytes.size()));
            tensors[number].bytes = bytes;
        } else {
            metadata[key] = value;
        }
    }
    detail::save_weights_file(path, std::move(tensors), std::move(metadata));
}

// What is taken can be saved and taken again; what is refused changes nothing.
inline void checkpoint(std::span<unsigned char const> content) {
    static std::string const path = "/dev/shm/castnet-fuzz-" + std::to_string(::getpid());
    static io::safetensors_file const good = [] {
        save(small_training{}.training, path);
        return io::load_safetensors(path);
    }();
    accepted([&] { // not if the changes are no valid file
        write_changed(good, {reinterpret_cast<char const*>(content.data()), content.size()}, path);
        small_training fresh;
        auto const before = fresh.model.get("0.weight");
        if (accepted([&] { load(fresh.training, path); })) {
            save(fresh.training, path);
            small_training again;
            require(accepted([&] { load(again.training, path); }));
        } else {
            require(fresh.model.get("0.weight") == before);
        }
    });
    ::unlink(path.c_str());
}

} // namespace castnet::fuzz
