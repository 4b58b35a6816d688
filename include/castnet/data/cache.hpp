// Cached data set: samples are kept once they have been read, in memory or in a file.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/detail/in_threads.hpp>
#include <castnet/data/detail/packed_samples.hpp>
#include <castnet/data/sample_error.hpp>

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

namespace castnet::data {

struct cache_options {
    // Where samples are kept; empty: in memory.
    std::string file{};
    // Inputs are kept as bytes, a quarter of the floats, for numbers that are byte * scale + offset
    // as those of image::folder. Other numbers are an error: a cache changes none.
    bool bytes = false;
    double scale = 1.0 / 255, offset = 0;
};

namespace detail {

// Keeps samples in memory from when they are first read.
class samples_in_memory {
public:
    // Throws castnet::error where there is not enough memory for all of them.
    explicit samples_in_memory(packed_format const& format) try
        : row_{format.row_bytes()}, rows_(bytes_of(format)), ready_(format.samples) {
    } catch (std::bad_alloc const&) {
        throw error({"castnet: data::cache: not enough memory for ", format.samples, " samples of ",
                     format.row_bytes(), " bytes; give it a file, or cache_options::bytes"});
    }

    // Calls use(row); make(row) writes that of a sample that has not been read before. Two threads
    // that want it at the same time may both make it.
    template <class Make, class Use>
    void with(size_t sample, Make const& make, Use const& use) const {
        unsigned char* const kept = rows_.data() + sample * row_;
        if (!ready_[sample].load(std::memory_order_acquire)) {
            io::bytes made(row_);
            make(std::span{made});
            std::lock_guard const lock{filling_};
            if (!ready_[sample].load(std::memory_order_relaxed)) {
                std::copy(made.begin(), made.end(), kept);
                ready_[sample].store(true, std::memory_order_release);
            }
        }
        use(std::span<unsigned char const>{kept, row_});
    }

private:
    // Throws std::bad_alloc for more than any vector has.
    static size_t bytes_of(packed_format const& format) {
        size_t const most = size_t(std::numeric_limits<std::ptrdiff_t>::max());
        if (format.samples > most / format.row_bytes()) {
            throw std::bad_alloc{};
        }
        return format.samples * format.row_bytes();
    }

    size_t row_;
    mutable io::bytes rows_;
    mutable std::vector<std::atomic<bool>> ready_;
    mutable std::mutex filling_;
};

} // namespace detail

template <class Data>
class cached : public adaptor<Data> {
    using row = detail::sample_row<Data>;

public:
    cached(Data data, cache_options const& options)
        : adaptor<Data>{std::move(data)}, format_{format_of(options)} {
        if (data::changes_with_epoch(this->base())) {
            throw error(
                "castnet: data::cache: these samples change with every epoch (they are augmented, "
                "cropped, mixed or drawn at random), and a cache would keep those of the first; "
                "keep them before they are changed, as in augment(cache(data), ...)");
        }
        if (options.file.empty()) {
            memory_ = std::make_shared<detail::samples_in_memory const>(format_);
            return;
        }
        bool const is_there = io::exists(options.file);
        if (!is_there) {
            write(options.file);
        }
        file_ = std::make_shared<detail::packed_file const>(options.file);
        file_->require(format_);
        if (is_there && format_.samples > 0) {
            file_->require_first(made(0));
        }
    }

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        with_row(sample, [&](std::span<unsigned char const> packed) {
            format_.copy_inputs(packed, row::first_input(I), row::template input_size<I>, out);
        });
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        with_row(sample, [&](std::span<unsigned char const> packed) {
            format_.copy_targets(packed, row::first_target(I) - row::inputs,
                                 row::template target_size<I>, out);
        });
    }

private:
    detail::packed_format format_of(cache_options const& options) const {
        return {.bytes = options.bytes,
                .samples = this->size(),
                .inputs = row::inputs,
                .targets = row::count - row::inputs,
                .scale = options.bytes ? options.scale : 1,
                .offset = options.bytes ? options.offset : 0};
    }
    [[gnu::noinline]] void write(std::string const& path) const {
        io::atomic_file to{path};
        to.write(detail::header_of(format_));
        detail::make_in_threads<io::bytes>(
            format_.samples, [&](size_t sample) { return made(sample); },
            [&](io::bytes const& packed) { detail::write_row(to, packed); });
        to.commit();
    }
    io::bytes made(size_t sample) const {
        io::bytes packed(format_.row_bytes());
        make(sample, packed);
        return packed;
    }
    void make(size_t sample, std::span<unsigned char> out) const {
        std::vector<float> numbers(row::count);
        row::read(this->base(), sample, numbers.data());
        format_.pack(sample, numbers, out);
    }
    template <class Use>
    void with_row(size_t sample, Use const& use) const {
        detail::check_sample("data::cache", sample, format_.samples);
        if (file_ != nullptr) {
            file_->with(sample, use);
        } else {
            memory_->with(sample, [&](std::span<unsigned char> out) { make(sample, out); }, use);
        }
    }

    detail::packed_format format_;
    std::shared_ptr<detail::samples_in_memory const> memory_;
    std::shared_ptr<detail::packed_file const> file_;
};

// The same data set, whose samples are kept in memory from when they are first read (tf.data's
// cache), or in a file: then all are read now, by all threads of the machine, and written to it,
// unless it is there, and later each is read from it when it is asked for. What is inside is read
// once, so augment() belongs around it. Memory for all samples is taken now; the file appears whole
// or not at all. Throws castnet::error where the samples change with every epoch, where there is
// not enough memory, and for options.bytes where a number is no such byte; file_error where the
// file is damaged, was made with other options or of another number of samples or numbers, or has
// another first sample. That others have changed does not show, so remove the file when they do.
template <class Data>
cached<Data> cache(Data data, cache_options const& options = {}) {
    return {std::move(data), options};
}

} // namespace castnet::data
