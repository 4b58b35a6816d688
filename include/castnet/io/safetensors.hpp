// Reading and writing of safetensors files, the format in which PyTorch models are exchanged: a
// 64-bit little-endian header size, a JSON header that names every tensor with type, shape and
// place, then the bytes of the tensors. https://github.com/huggingface/safetensors
#pragma once

#include <castnet/io/safetensors_metadata.hpp>
#include <castnet/io/source.hpp>
#include <castnet/io/stored_tensor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace castnet::io {

// A tensor with the bytes of its file, so it moves but does not copy.
class kept_tensor : public stored_tensor {
public:
    kept_tensor(stored_tensor const& tensor, io::bytes&& data)
        : stored_tensor{tensor}, data_{std::move(data)} {}
    kept_tensor(kept_tensor&&) = default;
    kept_tensor& operator=(kept_tensor&&) = default;

private:
    io::bytes data_; // that `bytes` views
};

// The same of all tensors of a file.
class kept_tensors : public std::vector<stored_tensor> {
public:
    kept_tensors(std::vector<stored_tensor>&& tensors, io::bytes&& data)
        : std::vector<stored_tensor>{std::move(tensors)}, data_{std::move(data)} {}
    kept_tensors(kept_tensors&&) = default;
    kept_tensors& operator=(kept_tensors&&) = default;

private:
    io::bytes data_; // that their `bytes` view
};

// The tensors of a file, held in memory.
class safetensors_file {
public:
    // Throws file_error unless the file is valid to the letter: every byte of data belongs to
    // exactly one tensor, and every name occurs once.
    explicit safetensors_file(source& in);

    // The tensors are views into this object, so it moves but does not copy.
    safetensors_file(safetensors_file const&) = delete;
    safetensors_file& operator=(safetensors_file const&) = delete;
    safetensors_file(safetensors_file&&) = default;
    safetensors_file& operator=(safetensors_file&&) = default;

    std::string const& file_name() const { return file_; }
    std::vector<stored_tensor> const& entries() const& { return entries_; } // by name
    safetensors_metadata const& metadata() const& { return metadata_; }
    // So that a loop over load_safetensors(path).entries() views no bytes that are gone.
    kept_tensors entries() && { return {std::move(entries_), std::move(data_)}; }
    safetensors_metadata metadata() && { return std::move(metadata_); }

    // The tensor of this name; null where there is none.
    stored_tensor const* find(std::string_view name) const&;

    // (Compilers show this line.)
    void find(std::string_view name) && = delete; // castnet: auto file = load_safetensors(path);

    // The tensor of this name; throws file_error where there is none, whose message ends with this
    // advice.
    stored_tensor const& at(std::string_view name, std::string_view advice = {}) const&;
    // So that load_safetensors(path).at(name) views no bytes that are gone.
    kept_tensor at(std::string_view name) && {
        stored_tensor const& found = at(name);
        return {found, std::move(data_)};
    }

private:
    // The one of this name behind a prefix, or else an example.
    std::string hint_at_names(std::string_view wanted) const;

    bytes data_;
    std::string file_;
    std::vector<stored_tensor> entries_;
    safetensors_metadata metadata_;
};

// Throws file_error; see safetensors_file.
safetensors_file load_safetensors(std::string const& path);

// Writes the tensors and the metadata. The same content gives the same bytes, whatever the order
// of `tensors`. Atomic: see atomic_file. Throws file_error, also for a name that occurs twice or is
// not UTF-8, for a tensor whose bytes do not fill its shape, and for more than 64 axes or 65,536
// keys of metadata, which would not be read; then nothing is written.
void save_safetensors(std::string const& path, std::span<stored_tensor const> tensors,
                      safetensors_metadata const& metadata = {});

} // namespace castnet::io

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU
#include <castnet/io/detail/safetensors_format.hpp>
#endif
