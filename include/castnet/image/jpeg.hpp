// JPEG files, read and written by libjpeg (libjpeg-turbo).
#pragma once

#include <castnet/image/exif.hpp>
#include <castnet/image/limits.hpp>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <jerror.h>
#include <jpeglib.h>

namespace castnet::image {

// A size that an image will be resized to, so that a JPEG may be decoded to a half, a quarter or an
// eighth of its own: the smallest that is no smaller than this one, in width and height (Pillow's
// Image.draft). Quicker for large images, to other pixels than the whole size resized. Empty: as it
// is.
struct draft {
    size_t width = 0, height = 0;
};

namespace detail {

// By how much a part of an image can be reduced.
inline size_t reduction_of(rectangle const& part, draft const& to) {
    if (to.width == 0 || to.height == 0) {
        return 1;
    }
    size_t const most = std::min(part.width / to.width, part.height / to.height);
    return most >= 8 ? 8 : most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

// Error handler of libjpeg, which would end the program. It is written in C, so nothing is thrown
// through it: it jumps back to `failed`.
struct jpeg_errors {
    jpeg_error_mgr manager{}; // first, so that libjpeg's pointer to it is one to this
    std::jmp_buf failed{};
    char text[JMSG_LENGTH_MAX] = {};

    jpeg_errors() {
        jpeg_std_error(&manager);
        manager.error_exit = [](j_common_ptr info) { of(info).jump(info); };
        manager.emit_message = [](j_common_ptr info, int level) {
            // A missing or unreadable part, which libjpeg would fill with grey.
            int const code = info->err->msg_code;
            if (level < 0 &&
                (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE)) {
                of(info).jump(info);
            }
        };
        manager.output_message = [](j_common_ptr) {};
    }

    // A progressive image may ask for the work of its whole size again for every few bytes.
    static void check_scans(j_common_ptr info) {
        constexpr int most = 500;
        if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > most) {
            info->err->msg_code = JERR_BAD_PROGRESSION;
            of(info).jump(info);
        }
    }

private:
    static jpeg_errors& of(j_common_ptr info) { return *reinterpret_cast<jpeg_errors*>(info->err); }
    [[noreturn]] void jump(j_common_ptr info) {
        manager.format_message(info, text);
        std::longjmp(failed, 1);
    }
};

// Exif's orientation in the marker APP1; 1 where there is none.
inline int exif_orientation(jpeg_decompress_struct const& jpeg) {
    for (auto const* m = jpeg.marker_list; m != nullptr; m = m->next) {
        std::span const data{m->data, m->data_length};
        if (m->marker == JPEG_APP0 + 1 && data.size() >= 6 &&
            std::memcmp(data.data(), "Exif\0\0", 6) == 0) {
            if (int const orientation = orientation_in(data.subspan(6)); orientation > 0) {
                return orientation;
            }
        }
    }
    return 1;
}

// One image that is being decoded.
class jpeg_reader {
public:
    explicit jpeg_reader(std::span<unsigned char const> content) : content_{content} {
        jpeg_.err = &errors_.manager;
    }
    jpeg_reader(jpeg_reader const&) = delete;
    jpeg_reader& operator=(jpeg_reader const&) = delete;
    ~jpeg_reader() { jpeg_destroy_decompress(&jpeg_); }

    char const* message() const { return errors_.text; }
    // Of the image as it is decoded.
    size_t width() const { return jpeg_.output_width; }
    size_t height() const { return jpeg_.output_height; }
    int orientation() const { return exif_orientation(jpeg_); }
    // Of the pixels that come: four are cyan, magenta, yellow and black.
    size_t channels() const { return size_t(jpeg_.output_components); }

    // These return false, with a message, where libjpeg cannot go on. (They have no objects
    // with destructors, over which longjmp must not jump.)
    bool begin(size_t channels) {
        if (setjmp(errors_.failed) != 0) {
            return false;
        }
        jpeg_create_decompress(&jpeg_);
        progress_.progress_monitor = jpeg_errors::check_scans;
        jpeg_.progress = &progress_;
        jpeg_mem_src(&jpeg_, content_.data(), static_cast<unsigned long>(content_.size()));
        jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, 0xFFFF);
        jpeg_read_header(&jpeg_, TRUE);
        bool const inks = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
        jpeg_.out_color_space = inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_calc_output_dimensions(&jpeg_);
        return true;
    }
    bool reduce(size_t by) {
        if (setjmp(errors_.failed) != 0) {
            return false;
        }
        jpeg_.scale_num = 1;
        jpeg_.scale_denom = static_cast<unsigned>(by);
        jpeg_calc_output_dimensions(&jpeg_);
        return true;
    }
    bool read(unsigned char* out) {
        if (setjmp(errors_.failed) != 0) {
            return false;
        }
        jpeg_start_decompress(&jpeg_);
        while (jpeg_.output_scanline < jpeg_.output_height) {
            JSAMPROW row = out + size_t{jpeg_.output_scanline} * width() * channels();
            jpeg_read_scanlines(&jpeg_, &row, 1);
        }
        jpeg_finish_decompress(&jpeg_);
        return true;
    }
    // The same for a part of the image; `row` has room for one of the whole image.
    bool read(rectangle const& part, unsigned char* row, unsigned char* out) {
        if (setjmp(errors_.failed) != 0) {
            return false;
        }
        jpeg_start_decompress(&jpeg_);
        size_t skipped = 0; // pixels on the left that do not come
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
        // Colours are interpolated from those beside them, so that some more must be decoded: with
        // a block on each side, the pixels are those of the whole image.
        constexpr size_t block = size_t{DCTSIZE} * MAX_SAMP_FACTOR;
        auto left = static_cast<JDIMENSION>(part.x - std::min(part.x, block));
        auto across =
            static_cast<JDIMENSION>(std::min(part.x + part.width + block, width()) - left);
        jpeg_crop_scanline(&jpeg_, &left, &across);
        skipped = left;
        if (size_t const above = part.y - std::min(part.y, block); above > 0) {
            jpeg_skip_scanlines(&jpeg_, static_cast<JDIMENSION>(above));
        }
#endif
        size_t const length = part.width * channels();
        while (jpeg_.output_scanline < part.y + part.height) {
            size_t const y = jpeg_.output_scanline;
            jpeg_read_scanlines(&jpeg_, &row, 1);
            if (y >= part.y) {
                std::memcpy(out + (y - part.y) * length, row + (part.x - skipped) * channels(),
                            length);
            }
        }
        return true;
    }

private:
    std::span<unsigned char const> content_;
    jpeg_errors errors_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct jpeg_{};
};

// Adobe's files hold the inks inverted.
inline bitmap without_inks(bitmap const& inks) {
    bitmap rgb{inks.width, inks.height, 3};
    for (size_t i = 0; i < inks.width * inks.height; ++i) {
        for (size_t c = 0; c < 3; ++c) {
            int const light = inks.pixels[4 * i + c] * inks.pixels[4 * i + 3];
            rgb.pixels[3 * i + c] = static_cast<unsigned char>((light + 127) / 255);
        }
    }
    return rgb;
}

} // namespace detail

// Decodes a part of a JPEG to one channel or three, turned as its Exif data say: the rectangle that
// choose(width, height) returns for the turned image, which must lie within it. Its pixels are
// those of the whole image; of the rest, no more is decoded than it takes (with libjpeg-turbo), so
// damage there may not show. As a draft, the part is reduced; where it does not end between the
// pixels of the reduced image, it ends at the ones before. Throws as decode_jpeg.
template <class Choose>
[[gnu::noinline]] bitmap decode_jpeg_part(std::span<unsigned char const> content, size_t channels,
                                          std::string const& file, Choose const& choose,
                                          draft const& to = {}) {
    detail::jpeg_reader jpeg{content};
    auto const fail = [&] {
        throw file_error(file, {"cannot decode the JPEG: ", std::string_view{jpeg.message()}});
    };
    if (!jpeg.begin(channels)) {
        fail();
    }
    // A block of 64 pixels takes a bit at least; those of colours may stand for four of them.
    detail::check_size(file, jpeg.width(), jpeg.height(), content.size(), size_t{64} * 8);
    turn const held{jpeg.orientation()}; // read() forgets the markers
    bool const swaps = held.swaps_axes();
    rectangle whole{0, 0, jpeg.width(), jpeg.height()};
    rectangle part =
        held.before(swaps ? choose(whole.height, whole.width) : choose(whole.width, whole.height),
                    whole.width, whole.height);
    bool const is_whole = part.width == whole.width && part.height == whole.height;
    if (size_t const by = detail::reduction_of(part, swaps ? draft{to.height, to.width} : to);
        by > 1) {
        if (!jpeg.reduce(by)) {
            fail();
        }
        whole = {0, 0, jpeg.width(), jpeg.height()};
        part = is_whole ? whole
                        : rectangle{part.x / by, part.y / by, part.width / by, part.height / by};
    }
    bitmap image{part.width, part.height, jpeg.channels()};
    bool done = false;
    if (is_whole) {
        done = jpeg.read(image.pixels.data());
    } else {
        bytes row(whole.width * jpeg.channels());
        done = jpeg.read(part, row.data(), image.pixels.data());
    }
    if (!done) {
        fail();
    }
    if (image.channels == 4) {
        image = with_channels(detail::without_inks(image), channels);
    }
    return held.after(std::move(image));
}

// Decodes a JPEG to one channel or three, turned as its Exif data say. `file` is for messages.
// Throws file_error where the content is none, is damaged or cut short, or says that it has more
// pixels than it can have.
[[gnu::noinline]] inline bitmap decode_jpeg(std::span<unsigned char const> content, size_t channels,
                                            std::string const& file, draft const& to = {}) {
    return decode_jpeg_part(content, channels, file, whole_image, to);
}

// Encodes an image of one or three channels; the quality is libjpeg's, 1 to 100. Throws
// castnet::error for any other.
[[gnu::noinline]] inline bytes encode_jpeg(bitmap const& image, int quality = 90) {
    detail::check_bitmap("encode_jpeg", image);
    if (quality < 1 || quality > 100) {
        throw error({"castnet: encode_jpeg: the quality is ", quality,
                     ", expected a number from 1 to 100"});
    }
    detail::jpeg_errors errors;
    jpeg_compress_struct jpeg{};
    unsigned char* out = nullptr;
    unsigned long size = 0;
    jpeg.err = &errors.manager;
    bool const done = [&] {
        if (setjmp(errors.failed) != 0) {
            return false;
        }
        jpeg_create_compress(&jpeg);
        jpeg_mem_dest(&jpeg, &out, &size);
        jpeg.image_width = static_cast<JDIMENSION>(image.width);
        jpeg.image_height = static_cast<JDIMENSION>(image.height);
        jpeg.input_components = static_cast<int>(image.channels);
        jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_set_defaults(&jpeg);
        jpeg_set_quality(&jpeg, quality, TRUE);
        jpeg_start_compress(&jpeg, TRUE);
        while (jpeg.next_scanline < jpeg.image_height) {
            auto* row = const_cast<JSAMPROW>(image.row(jpeg.next_scanline));
            jpeg_write_scanlines(&jpeg, &row, 1);
        }
        jpeg_finish_compress(&jpeg);
        return true;
    }();
    jpeg_destroy_compress(&jpeg);
    bytes content;
    if (done) {
        content.assign(out, out + size);
    }
    std::free(out);
    if (!done) {
        throw error({"castnet: encode_jpeg: cannot encode an image of ", image.width, " x ",
                     image.height, " pixels and ", image.channels,
                     " channels: ", std::string_view{errors.text}});
    }
    return content;
}

} // namespace castnet::image
