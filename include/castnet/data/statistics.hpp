// Mean and standard deviation of the channels of a data set's images.
#pragma once

#include <castnet/data/adaptor.hpp>
#include <castnet/data/description.hpp>
#include <castnet/data/detail/in_threads.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace castnet::data {

namespace detail {

// Numbers, their mean, and the sum of the squares of their distances from it, to which those of
// others are added (Chan, Golub and LeVeque, 1979).
struct moments {
    double count = 0, mean = 0, squares = 0;

    void add(moments const& other) {
        double const all = count + other.count, distance = other.mean - mean;
        if (all > 0) {
            mean += distance * other.count / all;
            squares += other.squares + distance * distance * count * other.count / all;
            count = all;
        }
    }
    static moments of(float const* values, size_t count) {
        // From the first value on, so that of equal ones the distances are 0.
        moments m{.count = double(count), .mean = double(values[0])};
        for (size_t i = 0; i < count; ++i) {
            m.mean += (double(values[i]) - double(values[0])) / double(count);
        }
        for (size_t i = 0; i < count; ++i) {
            m.squares += (double(values[i]) - m.mean) * (double(values[i]) - m.mean);
        }
        return m;
    }
};

} // namespace detail

// Of all pixels of all samples: the standard deviation is the root of the mean square distance from
// the mean (Keras' Normalization.adapt), and 1 where all are equal, as of columns. Every sample is
// read once, by all threads of the machine; the result does not depend on them. To be kept with the
// model, see description.
template <class Data>
channel_statistics statistics_of(Data const& data) {
    using image = typename Data::template input_shape<0>;
    static_assert(image::rank == 3,
                  "castnet: data::statistics_of is for images: the first input of the data set "
                  "needs a shape of channels, height and width; for the columns of a table there "
                  "is statistics_of_columns");
    constexpr size_t channels = image::extent[0], pixels = image::count / channels;
    using of_channels = std::array<detail::moments, channels>;
    of_channels all{};
    detail::make_in_threads<of_channels>(
        data.size(),
        [&](size_t sample) {
            std::vector<float> values(image::count);
            data.template copy_input<0>(sample, values.data());
            of_channels each;
            for (size_t c = 0; c < channels; ++c) {
                each[c] = detail::moments::of(values.data() + c * pixels, pixels);
            }
            return each;
        },
        [&](of_channels const& each) {
            for (size_t c = 0; c < channels; ++c) {
                all[c].add(each[c]);
            }
        });
    channel_statistics result;
    for (detail::moments const& m : all) {
        result.mean.push_back(m.mean);
        bool const equal = m.count > 0 && m.squares == 0;
        result.deviation.push_back(equal ? 1 : m.count > 0 ? std::sqrt(m.squares / m.count) : 0);
    }
    return result;
}

} // namespace castnet::data
