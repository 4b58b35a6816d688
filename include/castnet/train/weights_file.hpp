// Files of weights with a checksum, in their metadata as "castnet.crc32c": a file that a disk or a
// network has damaged is told from a good one. Files without it, such as PyTorch's, are taken as
// they are.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/crc32.hpp>
#include <castnet/io/safetensors.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace castnet::detail {

// Throws file_error where the file has a checksum that is not that of its content.
void check_checksum(io::safetensors_file const& file);

io::safetensors_file load_weights_file(std::string const& path);

void save_weights_file(std::string const& path, std::vector<io::stored_tensor> tensors,
                       io::safetensors_metadata metadata);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

inline constexpr char const* checksum_key = "castnet.crc32c";

// Of the metadata and the tensors, both by name, so that a program which writes the same content in
// another order does not damage it.
[[gnu::noinline]] inline std::string
checksum_of(std::vector<io::stored_tensor> const& tensors_by_name,
            io::safetensors_metadata const& metadata) {
    std::uint32_t crc = 0;
    auto const add = [&](std::string const& text) {
        crc = io::crc32c({reinterpret_cast<unsigned char const*>(text.data()), text.size()}, crc);
    };
    for (auto const& [key, value] : metadata) {
        if (key != checksum_key) {
            add(string_of({key.size(), ' ', key, value.size(), ' ', value}));
        }
    }
    for (io::stored_tensor const& t : tensors_by_name) {
        std::string header = string_of({t.name.size(), ' ', t.name, io::name_of(t.type)});
        for (size_t const extent : t.shape) {
            append(header, {' ', extent});
        }
        add(header += ' ');
        crc = io::crc32c(t.bytes, crc);
    }
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) {
        digits += "0123456789abcdef"[crc >> shift & 15];
    }
    return digits;
}

[[gnu::noinline]] inline void check_checksum(io::safetensors_file const& file) {
    auto const at = file.metadata().find(checksum_key);
    if (at == file.metadata().end()) {
        return;
    }
    std::string const found = checksum_of(file.entries(), file.metadata());
    if (found != at->second) {
        throw file_error(file.file_name(),
                         {"the checksum of its content is ", found, ", but its metadata has ",
                          io::detail::shown(at->second), " as '", checksum_key,
                          "': the file is damaged; take another copy or an earlier file (a program "
                          "that changes tensors of a file has to leave that entry out)"});
    }
}

[[gnu::noinline]] inline io::safetensors_file load_weights_file(std::string const& path) {
    io::safetensors_file file = io::load_safetensors(path);
    check_checksum(file);
    return file;
}

[[gnu::noinline]] inline void save_weights_file(std::string const& path,
                                                std::vector<io::stored_tensor> tensors,
                                                io::safetensors_metadata metadata) {
    io::detail::sort(tensors.data(), tensors.size(), io::detail::by_name{});
    metadata[checksum_key] = checksum_of(tensors, metadata);
    io::save_safetensors(path, tensors, metadata);
}

#endif

} // namespace castnet::detail
