// PNG files, read and written by libpng.
#pragma once

#include <castnet/image/exif.hpp>
#include <castnet/image/limits.hpp>

#include <csetjmp>
#include <cstring>
#include <png.h>

namespace castnet::image {

namespace detail {

// One image that is being decoded or encoded. libpng is written in C, so nothing is thrown through
// it: where it cannot go on, it jumps back, and the member functions return false with a message.
// (They have no objects with destructors, over which longjmp must not jump.)
class png_errors {
public:
    char const* message() const { return text_; }

protected:
    [[noreturn]] static void fail(png_structp png, png_const_charp text) {
        auto& self = *static_cast<png_errors*>(png_get_error_ptr(png));
        std::strncpy(self.text_, text, sizeof self.text_ - 1);
        png_longjmp(png, 1);
    }
    static void ignore(png_structp, png_const_charp) {}

private:
    char text_[128] = "out of memory";
};

class png_reader : public png_errors {
public:
    explicit png_reader(std::span<unsigned char const> content) : left_{content} {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, static_cast<png_errors*>(this), fail,
                                      ignore);
        info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    }
    png_reader(png_reader const&) = delete;
    png_reader& operator=(png_reader const&) = delete;
    ~png_reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

    size_t width() const { return png_get_image_width(png_, info_); }
    size_t height() const { return png_get_image_height(png_, info_); }
    size_t channels() const { return png_get_channels(png_, info_); }
    // Of each pixel in the file.
    size_t bits() const { return bits_; }

    // Known once the image has been read, since Exif data may come after it.
    int orientation() const {
#ifdef PNG_eXIf_SUPPORTED
        png_uint_32 size = 0;
        png_bytep data = nullptr;
        if (png_get_eXIf_1(png_, info_, &size, &data) != 0) {
            return orientation_in({data, size});
        }
#endif
        return 1;
    }

    bool begin() {
        if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) {
            return false;
        }
        png_set_read_fn(png_, this, [](png_structp png, png_bytep out, size_t count) {
            auto& self = *static_cast<png_reader*>(png_get_io_ptr(png));
            if (count > self.left_.size()) {
                png_error(png, "the file ends too early");
            }
            std::memcpy(out, self.left_.data(), count);
            self.left_ = self.left_.subspan(count);
        });
        png_read_info(png_, info_);
        bits_ = size_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
        png_set_expand(png_); // palettes, fewer bits than 8, transparent colours
        png_set_scale_16(png_);
        png_set_strip_alpha(png_);
        passes_ = png_set_interlace_handling(png_);
        png_read_update_info(png_, info_);
        return true;
    }
    bool read(unsigned char* out) {
        if (setjmp(png_jmpbuf(png_)) != 0) {
            return false;
        }
        size_t const row = png_get_rowbytes(png_, info_);
        for (int pass = 0; pass < passes_; ++pass) {
            for (size_t y = 0; y < height(); ++y) {
                png_read_row(png_, out + y * row, nullptr);
            }
        }
        png_read_end(png_, info_);
        return true;
    }

private:
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
    int passes_ = 1;
    size_t bits_ = 0;
    std::span<unsigned char const> left_;
};

class png_writer : public png_errors {
public:
    png_writer() {
        png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, static_cast<png_errors*>(this), fail,
                                       ignore);
        info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    }
    png_writer(png_writer const&) = delete;
    png_writer& operator=(png_writer const&) = delete;
    ~png_writer() { png_destroy_write_struct(&png_, &info_); }

    bool write(bitmap const& image, bytes& out) {
        if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) {
            return false;
        }
        png_set_write_fn(
            png_, &out,
            [](png_structp png, png_bytep data, size_t count) {
                auto& to = *static_cast<bytes*>(png_get_io_ptr(png));
                bool done = true;
                try {
                    to.insert(to.end(), data, data + count);
                } catch (std::bad_alloc const&) {
                    done = false;
                }
                if (!done) {
                    png_error(png, "out of memory");
                }
            },
            [](png_structp) {});
        png_set_IHDR(png_, info_, static_cast<png_uint_32>(image.width),
                     static_cast<png_uint_32>(image.height), 8,
                     image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_write_info(png_, info_);
        for (size_t y = 0; y < image.height; ++y) {
            png_write_row(png_, image.row(y));
        }
        png_write_end(png_, nullptr);
        return true;
    }

private:
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
};

} // namespace detail

// Decodes a PNG to one channel or three, turned as its Exif data say: 16 bits become 8,
// rounded (PIL cuts the lower ones off, and grey numbers above 255); transparency is dropped and
// gamma left as it is, as PIL does. `file` is for messages. Throws file_error where the content is
// none, is damaged or cut short, or says that it has more pixels than it can have.
[[gnu::noinline]] inline bitmap decode_png(std::span<unsigned char const> content, size_t channels,
                                           std::string const& file) {
    detail::png_reader png{content};
    auto const fail = [&] {
        throw file_error(file, {"cannot decode the PNG: ", std::string_view{png.message()}});
    };
    if (!png.begin()) {
        fail();
    }
    // Deflate makes at most 1,032 bytes of one.
    detail::check_size(file, png.width(), png.height(), content.size(),
                       size_t{1032} * 8 / png.bits());
    bitmap image{png.width(), png.height(), png.channels()};
    if (!png.read(image.pixels.data())) {
        fail();
    }
    return turn{png.orientation()}.after(with_channels(std::move(image), channels));
}

// Encodes an image of one or three channels. Throws castnet::error for any other.
[[gnu::noinline]] inline bytes encode_png(bitmap const& image) {
    detail::check_bitmap("encode_png", image);
    bytes content;
    detail::png_writer png;
    if (!png.write(image, content)) {
        throw error({"castnet: encode_png: cannot encode an image of ", image.width, " x ",
                     image.height, " pixels and ", image.channels,
                     " channels: ", std::string_view{png.message()}});
    }
    return content;
}

} // namespace castnet::image
