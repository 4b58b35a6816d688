// Reading and writing of safetensors files, the format in which PyTorch models are exchanged: a
// 64-bit little-endian header size, a JSON header that names every tensor with type, shape and
// place, then the bytes of the tensors. https://github.com/huggingface/safetensors
#pragma once

#include <castnet/io/atomic_file.hpp>
#include <castnet/io/detail/other_format.hpp>
#include <castnet/io/detail/safetensors_header.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace castnet::io {

static_assert(std::endian::native == std::endian::little,
              "castnet: safetensors files are little endian and so must the machine be");

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
    [[gnu::noinline]] explicit safetensors_file(source& in) try : file_{in.file()} {
        auto const size = in.little<std::uint64_t>("the size of the safetensors header");
        if (size > detail::largest_header) {
            auto const first = std::bit_cast<std::array<char, sizeof size>>(size);
            throw file_error(file_,
                             {"byte 0: found a header size of ", size, " bytes, expected at most ",
                              detail::largest_header, "; this is not a safetensors file",
                              detail::other_format({first.data(), first.size()}),
                              static_cast<std::uint32_t>(size) == detail::zip_start
                                  ? ", as torch.save writes it: in PyTorch call "
                                    "safetensors.torch.save_file(model.state_dict(), name)"
                                  : ""});
        }
        auto header = detail::parse_header(in, static_cast<size_t>(size));
        auto const end = detail::check_places(header, file_);
        data_ = in.take(end, "the data of the tensors");
        in.check_end("the data of the tensors");
        for (size_t i = 0; i < header.places.size(); ++i) {
            auto const& place = header.places[i];
            header.tensors[place.tensor].bytes = {data_.data() + place.begin,
                                                  place.end - place.begin};
        }
        entries_ = std::move(header.tensors);
        metadata_ = std::move(header.metadata);
        detail::sort(entries_.data(), entries_.size(), detail::by_name{});
        for (size_t i = 1; i < entries_.size(); ++i) {
            detail::check_names(entries_[i - 1], entries_[i], file_);
        }
    } catch (std::bad_alloc const&) {
        in.refuse_size();
    }

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
    stored_tensor const* find(std::string_view name) const& {
        auto const at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                         [](stored_tensor const& entry, std::string_view wanted) {
                                             return entry.name < wanted;
                                         });
        return at != entries_.end() && at->name == name ? &*at : nullptr;
    }

    // (Compilers show this line.)
    void find(std::string_view name) && = delete; // castnet: auto file = load_safetensors(path);

    // The tensor of this name; throws file_error where there is none.
    stored_tensor const& at(std::string_view name) const& {
        auto const* const found = find(name);
        if (found == nullptr) {
            throw file_error(file_, {"found no tensor ", detail::shown(name), " among its ",
                                     entries_.size(), " tensors", hint_at_names(name)});
        }
        return *found;
    }
    // So that load_safetensors(path).at(name) views no bytes that are gone.
    kept_tensor at(std::string_view name) && {
        stored_tensor const& found = at(name);
        return {found, std::move(data_)};
    }

private:
    // The one of this name behind a prefix, or else an example.
    [[gnu::noinline]] std::string hint_at_names(std::string_view wanted) const {
        auto const alike = std::find_if(entries_.begin(), entries_.end(), [&](auto const& entry) {
            return entry.name.ends_with(wanted);
        });
        auto const shown = alike == entries_.end() ? entries_.begin() : alike;
        return shown == entries_.end() ? "" : ", such as " + detail::shown(shown->name);
    }

    bytes data_;
    std::string file_;
    std::vector<stored_tensor> entries_;
    safetensors_metadata metadata_;
};

// Throws file_error; see safetensors_file.
inline safetensors_file load_safetensors(std::string const& path) {
    file_source file{path};
    return safetensors_file{file};
}

// Writes the tensors and the metadata. The same content gives the same bytes, whatever the order
// of `tensors`. Atomic: see atomic_file. Throws file_error, also for a name that occurs twice or is
// not UTF-8, for a tensor whose bytes do not fill its shape, and for more than 64 axes or 65,536
// keys of metadata, which would not be read; then nothing is written.
[[gnu::noinline]] inline void save_safetensors(std::string const& path,
                                               std::span<stored_tensor const> tensors,
                                               safetensors_metadata const& metadata = {}) {
    auto const by_name = detail::sorted(tensors.data(), tensors.size(), detail::by_name{});
    for (size_t i = 1; i < by_name.size(); ++i) {
        detail::check_names(*by_name[i - 1], *by_name[i], path);
    }
    // As the reference writer does: widest elements first, which keeps every tensor aligned.
    auto const order = detail::sorted(
        tensors.data(), tensors.size(), [](stored_tensor const& a, stored_tensor const& b) {
            auto const a_size = size_of(a.type), b_size = size_of(b.type);
            return a_size != b_size ? (a_size > b_size ? -1 : 1) : a.name.compare(b.name);
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
