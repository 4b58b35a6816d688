// NumPy's .npz files: named arrays in a ZIP archive, as np.savez and np.savez_compressed write
// them.
#pragma once

#include <castnet/io/crc32.hpp>
#include <castnet/io/detail/zip_directory.hpp>
#include <castnet/io/npy.hpp>

#ifdef CASTNET_HAS_ZLIB
#include <castnet/io/inflate.hpp>
#endif

namespace castnet::io::inline CASTNET_GZIP_SUPPORT {

// Holds the archive as the file does; an array is unpacked when it is asked for.
class npz_file {
public:
    // Throws file_error unless the archive's directory is valid and names every array once.
    [[gnu::noinline]] explicit npz_file(source& in)
        : file_{in.file()}, archive_{in.read_up_to(in.remaining())} {
        for (auto& member : detail::zip_reader{archive_, file_}.members()) {
            constexpr std::string_view ending = ".npy";
            if (!member.name.ends_with(ending)) {
                continue;
            }
            member.name.resize(member.name.size() - ending.size());
            names_.push_back(member.name);
            arrays_.push_back(std::move(member));
        }
        auto sorted = names_;
        std::sort(sorted.begin(), sorted.end());
        auto const twice = std::adjacent_find(sorted.begin(), sorted.end());
        if (twice != sorted.end()) {
            throw file_error(
                file_, {"found array ", detail::shown(*twice), " twice, expected every name once"});
        }
    }
    // Arrays are views into this object, so it moves but does not copy.
    npz_file(npz_file const&) = delete;
    npz_file& operator=(npz_file const&) = delete;
    npz_file(npz_file&&) = default;
    npz_file& operator=(npz_file&&) = default;

    // In the order of the file.
    std::vector<std::string> const& names() const { return names_; }

    // An array. Throws file_error where there is none of this name, or it is damaged, is no
    // array of numbers, or takes more than `most` bytes with its header (compressed zeros take a
    // thousandth of their size in the file).
    [[gnu::noinline]] npy_array at(std::string_view name, size_t most = size_t{1} << 32) const {
        auto const* const found = find(name);
        if (found == nullptr) {
            std::string all;
            for (std::string const& known : names_) {
                append(all, {all.empty() ? "" : ", ", detail::shown(known)});
            }
            throw file_error(file_, {"there is no array ", detail::shown(name), "; there are ",
                                     all.empty() ? "none" : all});
        }
        std::string const where = string_of({file_, ", array ", detail::shown(name)});
        if (found->size > most) {
            throw file_error(where, {"takes ", found->size, " bytes, expected at most ", most});
        }
        if (found->method == 0) {
            return read(*found, memory_source{found->packed, where});
        }
        if (found->method != 8) {
            throw file_error(where, {"is compressed by method ", found->method,
                                     " of ZIP, expected none or deflate; write it with "
                                     "np.savez_compressed"});
        }
#ifdef CASTNET_HAS_ZLIB
        return read(*found, inflate_source{found->packed, where});
#else
        throw file_error(where, "is compressed and this program was built without zlib: compile "
                                "with -DCASTNET_HAS_ZLIB=1 and link with -lz (in CMake, link the "
                                "target castnet::zlib), or write it with np.savez");
#endif
    }

private:
    // The bytes of a member as they pass, which must be as many as the directory says, with their
    // checksum.
    class checked_source : public source {
    public:
        checked_source(source& in, detail::zip_member const& member)
            : source{in.file()}, in_{in}, member_{member} {}

    private:
        [[gnu::noinline]] size_t read_some(std::span<unsigned char> out) override {
            size_t const got = in_.read(out);
            crc_ = crc32(out.first(got), crc_);
            bool const at_end = got < out.size();
            if (in_.position() > member_.size || (at_end && in_.position() < member_.size)) {
                throw file_error(file(), {"holds ", at_end ? "" : "at least ", in_.position(),
                                          " bytes, but the directory says ", member_.size});
            }
            if (at_end && crc_ != member_.crc) {
                throw file_error(file(), "its checksum is another one than the directory's; "
                                         "fetch the file again");
            }
            return got;
        }

        source& in_;
        detail::zip_member const& member_;
        std::uint32_t crc_ = 0;
    };

    template <class Source>
    static npy_array read(detail::zip_member const& member, Source&& packed) {
        checked_source in{packed, member};
        return read_npy(in);
    }

    detail::zip_member const* find(std::string_view name) const {
        auto const at = std::find_if(arrays_.begin(), arrays_.end(),
                                     [&](auto const& array) { return array.name == name; });
        return at == arrays_.end() ? nullptr : &*at;
    }

    std::string file_;
    bytes archive_;
    std::vector<std::string> names_;
    std::vector<detail::zip_member> arrays_;
};

// The arrays of a file: read_npz(path).at("x"). Throws file_error; see npz_file.
inline npz_file read_npz(std::string const& path) {
    file_source file{path};
    return npz_file{file};
}

} // namespace castnet::io::inline CASTNET_GZIP_SUPPORT
