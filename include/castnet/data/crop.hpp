// Cropped images: a random part of each, or its middle.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/data/detail/redrawn.hpp>

#include <algorithm>
#include <vector>

namespace castnet::data {

template <Shape To, class Data>
class cropped : public detail::redrawn<Data> {
    using from = typename Data::template input_shape<0>;
    static_assert(from::rank == 3 && To::rank == 3,
                  "castnet: images are cropped: the first input of the data set and the result "
                  "need a shape of channels, height and width");
    static_assert(from::rank != 3 || To::rank != 3 || from::extent[0] == To::extent[0],
                  "castnet: an image that is cropped keeps its channels");

public:
    template <size_t I>
    using input_shape = std::conditional_t<I == 0, To, typename Data::template input_shape<I>>;

    // At random with `padding` pixels of `value` on each side; or from the middle.
    cropped(Data data, bool at_random, size_t padding, double value)
        : detail::redrawn<Data>{std::move(data), "data::random_crop", at_random}, padding_{padding},
          value_{value} {
        if (height() < To::extent[1] || width() < To::extent[2]) {
            throw error({"castnet: data::random_crop: found images of ", from::extent[1], " x ",
                         from::extent[2], " pixels with ", padding,
                         " on each side, expected at "
                         "least ",
                         To::extent[1], " x ", To::extent[2]});
        }
    }

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        if constexpr (I == 0) {
            std::vector<T> whole(from::count);
            adaptor<Data>::template copy_input<0>(sample, whole.data());
            constexpr std::uint32_t purpose = 0x63726f70; // "crop"
            auto random = this->random_of(purpose, sample);
            auto const first = [&](size_t size, size_t part) {
                return std::ptrdiff_t(this->draws() ? random.below(size - part + 1)
                                                    : (size - part) / 2) -
                       std::ptrdiff_t(padding_);
            };
            std::ptrdiff_t const top = first(height(), To::extent[1]);
            std::ptrdiff_t const left = first(width(), To::extent[2]);
            copy_part(whole.data(), top, left, out);
        } else {
            adaptor<Data>::template copy_input<I>(sample, out);
        }
    }

private:
    size_t height() const { return from::extent[1] + 2 * padding_; }
    size_t width() const { return from::extent[2] + 2 * padding_; }

    template <class T>
    void copy_part(T const* whole, std::ptrdiff_t top, std::ptrdiff_t left, T* out) const {
        constexpr auto rows = std::ptrdiff_t(from::extent[1]);
        constexpr auto columns = std::ptrdiff_t(from::extent[2]);
        for (size_t c = 0; c < To::extent[0]; ++c) {
            for (size_t i = 0; i < To::extent[1]; ++i) {
                std::ptrdiff_t const y = top + std::ptrdiff_t(i);
                T const* const row = whole + (std::ptrdiff_t(c) * rows + y) * columns;
                for (size_t k = 0; k < To::extent[2]; ++k) {
                    std::ptrdiff_t const x = left + std::ptrdiff_t(k);
                    bool const within = y >= 0 && y < rows && x >= 0 && x < columns;
                    *out++ = within ? row[x] : T(value_);
                }
            }
        }
    }

    size_t padding_;
    double value_;
};

struct crop_options {
    size_t padding = 0; // pixels on each side
    double value = 0;   // theirs
};

// A part of the shape To of the first input, an image, at random in every epoch (torchvision's
// RandomCrop); the random numbers are as those of augment(). Throws castnet::error for images that
// are smaller, and for a value that is not finite.
template <Shape To, class Data>
cropped<To, Data> random_crop(Data data, crop_options const& options = {}) {
    castnet::detail::check_hyperparameters("data::random_crop",
                                           {{"value", options.value, hyperparameter::finite}});
    return {std::move(data), true, options.padding, options.value};
}

// The part in the middle, for validation (Keras' and torchvision's CenterCrop; odd rests are
// rounded down above and on the left).
template <Shape To, class Data>
cropped<To, Data> center_crop(Data data) {
    return {std::move(data), false, 0, 0};
}

} // namespace castnet::data
