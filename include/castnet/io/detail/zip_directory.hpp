// Directory of a ZIP archive: what its members are called and where they lie.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/shown.hpp>
#include <castnet/io/source.hpp>

namespace castnet::io::detail {

struct zip_member {
    std::string name;
    unsigned method = 0;                     // 0: stored, 8: deflated
    std::uint32_t crc = 0;                   // of what it holds
    size_t size = 0;                         // of what it holds
    std::span<unsigned char const> packed{}; // in the archive
};

// Reads little-endian numbers of an archive in memory, each within its bounds.
class zip_reader {
public:
    zip_reader(std::span<unsigned char const> archive, std::string const& file)
        : archive_{archive}, file_{file} {}

    // In the order of the directory. Throws file_error unless every member lies within the archive
    // and none over another one: an archive of overlapping members may hold more than any memory.
    [[gnu::noinline]] std::vector<zip_member> members() const {
        auto const [count, size, begin] = directory();
        std::vector<zip_member> all;
        size_t at = begin;
        size_t const end = begin + size;
        while (at < end) {
            expect(at, 0x02014b50, "an entry of the directory");
            size_t const name = number(at + 28, 2), extra = number(at + 30, 2);
            size_t const length = 46 + name + extra + number(at + 32, 2);
            if (length > end - at) {
                fail(at, "an entry of the directory is cut short");
            }
            all.push_back(member(at, name, extra));
            at += length;
        }
        if (all.size() != count) {
            fail(begin, string_of({"the directory holds ", quantity(all.size(), "member"),
                                   ", expected ", count}));
        }
        check_apart(all);
        return all;
    }

private:
    struct place {
        size_t count, size, begin;
    };

    // A number of 2, 4 or 8 bytes.
    size_t number(size_t at, size_t bytes) const {
        if (at > archive_.size() || bytes > archive_.size() - at) {
            fail(at, "the archive is cut short");
        }
        std::uint64_t value = 0;
        for (size_t i = bytes; i-- > 0;) {
            value = value << 8 | archive_[at + i];
        }
        return static_cast<size_t>(value);
    }
    void expect(size_t at, size_t signature, char const* what) const {
        if (number(at, 4) != signature) {
            fail(at, string_of({"expected ", what}));
        }
    }

    // The end record is the last thing in the archive but for a comment.
    [[gnu::noinline]] place directory() const {
        constexpr size_t record = 22, longest_comment = 65535;
        for (size_t comment = 0; comment <= longest_comment; ++comment) {
            if (record + comment > archive_.size()) {
                break;
            }
            size_t const at = archive_.size() - record - comment;
            if (number(at, 4) == 0x06054b50 && number(at + 20, 2) == comment) {
                return checked(
                    at, large(at, {number(at + 10, 2), number(at + 12, 4), number(at + 16, 4)}));
            }
        }
        fail(0, "this is not a ZIP archive, or the file is cut short");
    }
    // Where numbers do not fit into the end record at `at`, another one is before it (ZIP64).
    [[gnu::noinline]] place large(size_t at, place small) const {
        if (small.count != 0xFFFF && small.size != 0xFFFFFFFF && small.begin != 0xFFFFFFFF) {
            return small;
        }
        if (at < 20) {
            fail(at, "the archive is cut short");
        }
        expect(at - 20, 0x07064b50, "the place of the ZIP64 record");
        size_t const record = number(at - 12, 8);
        expect(record, 0x06064b50, "the ZIP64 record");
        return {number(record + 32, 8), number(record + 40, 8), number(record + 48, 8)};
    }
    place checked(size_t at, place directory) const {
        if (directory.begin > at || directory.size > at - directory.begin) {
            fail(at, "the directory does not lie within the archive");
        }
        return directory;
    }

    [[gnu::noinline]] zip_member member(size_t at, size_t name, size_t extra) const {
        zip_member m;
        m.name.assign(reinterpret_cast<char const*>(archive_.data()) + at + 46, name);
        if (number(at + 8, 2) % 2 != 0) {
            fail(at, string_of({"member ", shown(m.name), " is encrypted"}));
        }
        m.method = static_cast<unsigned>(number(at + 10, 2));
        m.crc = static_cast<std::uint32_t>(number(at + 16, 4));
        size_t packed = number(at + 20, 4), header = number(at + 42, 4);
        m.size = number(at + 24, 4);
        // ZIP64: those that do not fit are in the extra field 1, in this order.
        for (size_t next = at + 46 + name, end = next + extra; end - next >= 4;) {
            size_t const id = number(next, 2), length = number(next + 2, 2);
            next += 4;
            if (length > end - next) {
                fail(next, "an extra field is cut short");
            }
            size_t from = next;
            for (size_t* const value : {&m.size, &packed, &header}) {
                if (id == 1 && *value == 0xFFFFFFFF && next + length - from >= 8) {
                    *value = number(from, 8);
                    from += 8;
                }
            }
            next += length;
        }
        expect(header, 0x04034b50, "the header of a member");
        size_t const data = header + 30 + number(header + 26, 2) + number(header + 28, 2);
        if (data > archive_.size() || packed > archive_.size() - data) {
            fail(header, string_of({"member ", shown(m.name), " is cut short"}));
        }
        m.packed = archive_.subspan(data, packed);
        return m;
    }

    [[gnu::noinline]] void check_apart(std::vector<zip_member> const& all) const {
        std::vector<std::span<unsigned char const>> places;
        for (zip_member const& m : all) {
            places.push_back(m.packed);
        }
        std::sort(places.begin(), places.end(), [](auto a, auto b) { return a.data() < b.data(); });
        for (size_t i = 1; i < places.size(); ++i) {
            if (places[i - 1].data() + places[i - 1].size() > places[i].data()) {
                fail(size_t(places[i].data() - archive_.data()), "members lie over each other");
            }
        }
    }

    [[noreturn, gnu::cold]] void fail(size_t at, std::string const& what) const {
        throw file_error(file_, {"byte ", at, ": ", what});
    }

    std::span<unsigned char const> archive_;
    std::string const& file_;
};

} // namespace castnet::io::detail
