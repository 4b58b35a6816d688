// Lines of a text file, by number.
#pragma once

#include <castnet/io/compressed.hpp>
#include <castnet/io/detail/byte_order_mark.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>

namespace castnet::io {

// Copies share the text. A line ends with "\n" or "\r\n", the last one also with the file; a byte
// order mark is no part of the first one.
class text_lines {
public:
    // Throws file_error for a text of more than `most` bytes, that does not fit into memory, or
    // that its mark says is in UTF-16.
    [[gnu::noinline]] explicit text_lines(source& in, size_t most = default_most) try
        : file_{in.file()}, text_{std::make_shared<bytes const>(in.read_all(most))} {
        auto const all = whole();
        size_t begin = detail::byte_order_mark(all, file_);
        while (begin < all.size()) {
            begins_.push_back(begin);
            begin = std::min(all.find('\n', begin), all.size() - 1) + 1;
        }
    } catch (std::bad_alloc const&) {
        in.refuse_size();
    }

    // The longest text that is read unless another length is given: 4 GiB.
    static constexpr size_t default_most = size_t{1} << 32;

    size_t size() const { return begins_.size(); }

    // A line, without its end; valid as long as any copy. Throws file_error for one that the text
    // does not have.
    std::string_view operator[](size_t line) const {
        if (line >= size()) {
            throw file_error(file_, {"there is no line ", line, ", the text has ", size()});
        }
        size_t const end = line + 1 < size() ? begins_[line + 1] : whole().size();
        auto text = whole().substr(begins_[line], end - begins_[line]);
        for (char const last : {'\n', '\r'}) {
            if (text.ends_with(last)) {
                text.remove_suffix(1);
            } else {
                break;
            }
        }
        return text;
    }

    // Over the lines, as operator[] has them.
    class iterator {
    public:
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;

        iterator() = default;
        iterator(text_lines const& lines, size_t line) : lines_{&lines}, line_{line} {}
        std::string_view operator*() const { return (*lines_)[line_]; }
        iterator& operator++() {
            ++line_;
            return *this;
        }
        iterator operator++(int) { return {*lines_, line_++}; }
        bool operator==(iterator const&) const = default;

    private:
        text_lines const* lines_ = nullptr;
        size_t line_ = 0;
    };
    iterator begin() const { return {*this, 0}; }
    iterator end() const { return {*this, size()}; }

private:
    std::string_view whole() const {
        return {reinterpret_cast<char const*>(text_->data()), text_->size()};
    }

    std::string file_;
    std::shared_ptr<bytes const> text_;
    std::vector<size_t> begins_;
};

inline namespace CASTNET_GZIP_SUPPORT {

// The lines of the file `path`, or of `path`.gz; see read_compressed. Throws file_error, see
// text_lines.
inline text_lines read_lines(std::string const& path, size_t most = text_lines::default_most) {
    return read_compressed(path, [&](source& in) { return text_lines{in, most}; });
}

} // namespace CASTNET_GZIP_SUPPORT

} // namespace castnet::io
