// The safetensors format: how files of it are read and written.
#pragma once

#include <castnet/io/atomic_file.hpp>
#include <castnet/io/detail/other_format.hpp>
#include <castnet/io/detail/safetensors_header.hpp>
#include <castnet/io/safetensors.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace castnet::io {

static_assert(std::endian::native == std::endian::little,
              "castnet: safetensors files are little endian and so must the machine be");

[[gnu::noinline]] inline safetensors_file::safetensors_file(source& in) try : file_{in.file()} {
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
        header.tensors[place.tensor].bytes = {data_.data() + place.begin, place.end - place.begin};
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

inline stored_tensor const* safetensors_file::find(std::string_view name) const& {
    auto const at = std::lower_bound(
        entries_.begin(), entries_.end(), name,
        [](stored_tensor const& entry, std::string_view wanted) { return entry.name < wanted; });
    return at != entries_.end() && at->name == name ? &*at : nullptr;
}

inline stored_tensor const& safetensors_file::at(std::string_view name,
                                                 std::string_view advice) const& {
    auto const* const found = find(name);
    if (found == nullptr) {
        throw file_error(file_, {"found no tensor ", detail::shown(name), " among its ",
                                 quantity(entries_.size(), "tensor"), hint_at_names(name), advice});
    }
    return *found;
}

[[gnu::noinline]] inline std::string
safetensors_file::hint_at_names(std::string_view wanted) const {
    auto const alike = std::find_if(entries_.begin(), entries_.end(), [&](auto const& entry) {
        return entry.name.ends_with(wanted);
    });
    auto const shown = alike == entries_.end() ? entries_.begin() : alike;
    return shown == entries_.end() ? "" : ", such as " + detail::shown(shown->name);
}

inline safetensors_file load_safetensors(std::string const& path) {
    file_source file{path};
    return safetensors_file{file};
}

[[gnu::noinline]] inline void save_safetensors(std::string const& path,
                                               std::span<stored_tensor const> tensors,
                                               safetensors_metadata const& metadata) {
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
