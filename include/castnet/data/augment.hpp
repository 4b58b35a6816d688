// Augmented data set: images changed at random, differently in each epoch.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/detail/redrawn.hpp>
#include <castnet/data/pixels.hpp>

#include <tuple>

namespace castnet::data {

using random_stream = detail::random_stream;

// A transform whose draw(channels, height, width, random) returns what it does to an image: a
// function of single pixels (change_pixels) that a device can call, too: CASTNET_HD where sources
// are compiled for GPUs, trivially copyable, and {} is one. It may have a quicker form for the
// host, change(image), with the same results.
template <class Transform>
concept DrawsPixels = requires(Transform const& t, random_stream& random) {
    t.draw(size_t{1}, size_t{1}, size_t{1}, random);
};

// A draw that needs a measure of the whole image before: the sum over the rows, in order, of
// row_sum(image, y), a double, which set_sum(sum, pixels) is told. (Not for change.)
template <class Drawn>
concept MeasuresImage = requires(Drawn& drawn) { drawn.set_sum(0.0, size_t{1}); };

// Applies a transform of augment() to an image.
template <class Transform, class T>
void transform_image(Transform const& transform, pixels<T> image, random_stream& random) {
    if constexpr (DrawsPixels<Transform>) {
        auto drawn = transform.draw(image.channels, image.height, image.width, random);
        if constexpr (requires { drawn.change(image); }) {
            drawn.change(image);
        } else {
            if constexpr (MeasuresImage<decltype(drawn)>) {
                double sum = 0;
                for (size_t y = 0; y < image.height; ++y) {
                    sum += drawn.row_sum(image, y);
                }
                drawn.set_sum(sum, image.height * image.width);
            }
            change_pixels(image, drawn);
        }
    } else {
        transform(image, random);
    }
}

template <class Data, class... Transform>
class augmented : public detail::redrawn<Data> {
    using image = typename Data::template input_shape<0>;
    static_assert(image::rank == 3,
                  "castnet: augment changes images: the first input of the data set needs a shape "
                  "of channels, height and width");

public:
    explicit augmented(Data data, Transform... transforms)
        : detail::redrawn<Data>{std::move(data), "data::augment"},
          transforms_{std::move(transforms)...} {
        std::apply(
            [](auto const&... transform) {
                (castnet::detail::check_hyperparameters_of(transform), ...);
            },
            transforms_);
    }

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        adaptor<Data>::template copy_input<I>(sample, out);
        if constexpr (I == 0) {
            random_stream random = random_of(sample);
            pixels<T> const all{out, image::extent[0], image::extent[1], image::extent[2]};
            std::apply(
                [&](auto const&... transform) { (transform_image(transform, all, random), ...); },
                transforms_);
        }
    }

    // Draws of all transforms for an image in this epoch, one after the other.
    auto drawn_for(size_t sample) const
        requires(DrawsPixels<Transform> && ...)
    {
        random_stream random = random_of(sample);
        return std::apply(
            [&](auto const&... transform) { // braces: in order
                return std::tuple{transform.draw(image::extent[0], image::extent[1],
                                                 image::extent[2], random)...};
            },
            transforms_);
    }

private:
    random_stream random_of(size_t sample) const {
        constexpr std::uint32_t purpose = 0x6175676d; // "augm"
        return detail::redrawn<Data>::random_of(purpose, sample);
    }

    std::tuple<Transform...> transforms_;
};

// The samples of a data set whose first input, an image, went through these transforms one after
// the other: random_flip, random_affine and others (data/transforms.hpp), or any class with
//   template <class T> void operator()(data::pixels<T> image, data::random_stream& random) const;
// or with draw(), see DrawsPixels. Throws castnet::error where a number of a transform is out of
// its range. The random numbers of a sample depend on the model's seed, the epoch and the sample's
// number alone: not on threads or processes, and a resumed training draws the same. Outside of
// fit() they are those of the last epoch.
template <class Data, class... Transform>
augmented<Data, Transform...> augment(Data data, Transform... transforms) {
    return augmented<Data, Transform...>{std::move(data), std::move(transforms)...};
}

} // namespace castnet::data
