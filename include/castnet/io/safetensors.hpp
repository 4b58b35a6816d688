// Reading and writing of safetensors files, the format in which PyTorch models are exchanged: a
// 64-bit little-endian header size, a JSON header that names every tensor with type, shape and
// place, then the bytes of the tensors. https://github.com/huggingface/safetensors
#pragma once

#include <castnet/io/cursor.hpp>
#include <castnet/io/detail/safetensors_header.hpp>
#include <castnet/io/file.hpp>

#include <algorithm>

namespace castnet::io {

static_assert(std::endian::native == std::endian::little,
              "castnet: safetensors files are little endian and so must the machine be");

// The tensors of a file, held in memory.
class safetensors_file {
public:
    // Takes `content`, which came from `file`. Throws file_error unless it is valid to the letter:
    // every byte of data belongs to exactly one tensor, and every name occurs once.
    [[gnu::cold]] safetensors_file(bytes content, std::string file)
        : content_{std::move(content)}, file_{std::move(file)} {
        cursor in{content_, file_};
        auto const size = in.little<std::uint64_t>("the size of the safetensors header");
        if (size > detail::largest_header) {
            throw file_error(file_,
                             {"byte 0: found a header size of ", size, " bytes, expected at most ",
                              detail::largest_header, "; this is not a safetensors file"});
        }
        auto const text = in.take(static_cast<size_t>(size), "the safetensors header");
        auto header =
            detail::parse_header({reinterpret_cast<char const*>(text.data()), text.size()}, file_);
        detail::check_header(header, in.remaining(), file_);
        metadata_ = std::move(header.metadata);
        auto const data = in.take(in.remaining(), "the data");
        for (auto& entry : header.entries) {
            entries_.push_back({std::move(entry.name), entry.type, std::move(entry.shape),
                                data.subspan(entry.begin, entry.end - entry.begin)});
        }
    }

    // The tensors are views into this object, so it moves but does not copy.
    safetensors_file(safetensors_file const&) = delete;
    safetensors_file& operator=(safetensors_file const&) = delete;
    safetensors_file(safetensors_file&&) = default;
    safetensors_file& operator=(safetensors_file&&) = default;

    std::string const& file_name() const { return file_; }
    std::vector<stored_tensor> const& entries() const { return entries_; } // by name
    safetensors_metadata const& metadata() const { return metadata_; }

    // The tensor of this name; null where there is none.
    stored_tensor const* find(std::string_view name) const {
        auto const at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                         [](stored_tensor const& entry, std::string_view wanted) {
                                             return entry.name < wanted;
                                         });
        return at != entries_.end() && at->name == name ? &*at : nullptr;
    }

    // The tensor of this name; throws file_error where there is none.
    stored_tensor const& at(std::string_view name) const {
        auto const* const found = find(name);
        if (found == nullptr) {
            throw file_error(file_, {"found no tensor ", detail::shown(name), " among its ",
                                     entries_.size(), " tensors"});
        }
        return *found;
    }

private:
    bytes content_;
    std::string file_;
    std::vector<stored_tensor> entries_;
    safetensors_metadata metadata_;
};

// Throws file_error; see safetensors_file.
inline safetensors_file load_safetensors(std::string const& path) {
    return {read_file(path), path};
}

// Writes the tensors and the metadata. The same content gives the same bytes, whatever the order
// of `tensors`. Atomic: see atomic_file. Throws file_error, also for a name that occurs twice or is
// not UTF-8, and for a tensor whose bytes do not fill its shape; then nothing is written.
[[gnu::cold]] inline void save_safetensors(std::string const& path,
                                           std::span<stored_tensor const> tensors,
                                           safetensors_metadata const& metadata = {}) {
    // As the reference writer does: widest elements first, which keeps every tensor aligned.
    auto const order = detail::sorted(tensors, [](auto const& a, auto const& b) {
        auto const a_size = size_of(a.type), b_size = size_of(b.type);
        return a_size != b_size ? a_size > b_size : a.name < b.name;
    });
    auto const header = detail::header_text(order, metadata, path);
    unsigned char size[8];
    for (unsigned i = 0; i < 8; ++i) {
        size[i] = static_cast<unsigned char>(std::uint64_t{header.size()} >> (8 * i));
    }
    atomic_file file{path};
    file.write(size);
    file.write(header);
    for (auto const* tensor : order) {
        file.write(tensor->bytes);
    }
    file.commit();
}

} // namespace castnet::io
