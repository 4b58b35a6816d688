// Data sets whose samples are mixtures of two: mixup and cutmix.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/detail/redrawn.hpp>
#include <castnet/data/mixture.hpp>
#include <castnet/data/whole_numbers.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace castnet::data {

namespace detail {

// A number of the distribution Beta(alpha, alpha), in [0, 1]: the methods of Johnk (1964) up to
// 1, and of Cheng (1978, BB) above.
inline double beta(double alpha, random_stream& random) {
    auto const uniform = [&] { return (double(random.word()) + 0.5) * 0x1p-32; };
    for (;;) {
        double const u = uniform(), v = uniform();
        if (alpha <= 1) { // u^(1/alpha) and v^(1/alpha) may be less than any double
            double const log_u = std::log(u) / alpha, log_v = std::log(v) / alpha;
            double const most = std::max(log_u, log_v);
            double const log_sum = most + std::log1p(std::exp(std::min(log_u, log_v) - most));
            if (log_sum <= 0) {
                return std::exp(log_u - log_sum);
            }
        } else {
            double const x = std::log(u / (1 - u)) / std::sqrt(alpha), w = alpha * std::exp(x);
            double const r = (alpha + std::sqrt(alpha)) * x - std::log(4.0);
            double const t = 2 * std::log(u) + std::log(v);
            if (r + 2 * alpha * std::log(2 * alpha / (alpha + w)) >= t) {
                return w / (alpha + w);
            }
        }
    }
}

template <class... T>
struct targets_to_mix; // a class, so that every compiler prints the targets
template <class... T>
struct targets_to_mix<targets<T...>> {
    static_assert((!is_label<T> && ...),
                  "castnet: mixup and cutmix mix targets, and class numbers cannot be mixed: put "
                  "data::one_hot around the data set first; see targets_to_mix<targets>");
    static constexpr bool checked = true;
};

} // namespace detail

// Data set of mixtures: every sample has a partner with a share. Those derived of it have
//   mixture mixture_for(size_t sample) const   in this epoch
//   static constexpr bool cuts_images          the first input alone is cut; or else all inputs are
//                                              blended, as all targets are
template <class Data>
class mixed : public detail::redrawn<Data> {
    static_assert(detail::targets_to_mix<targets_of<Data>>::checked);

protected:
    // Beyond 1e-300 and 1e300, where beta() would compute infinities, shares are the same: 0 or 1,
    // or a half.
    mixed(Data data, char const* call, double alpha)
        : detail::redrawn<Data>{std::move(data), call}, alpha_{std::clamp(alpha, 1e-300, 1e300)} {
        if (!(alpha > 0) || !castnet::detail::is_finite(alpha)) {
            throw error(
                {"castnet: ", call, ": found alpha ", alpha, ", expected a finite number above 0"});
        }
    }

    detail::random_stream random_of(size_t sample) const {
        constexpr std::uint32_t purpose = 0x6d697820; // "mix "
        return detail::redrawn<Data>::random_of(purpose, sample);
    }
    mixture draw(detail::random_stream& random) const {
        size_t const partner = random.below(this->size());
        return {partner, detail::beta(alpha_, random)};
    }

    // Mixes `count` numbers of a sample with those of the partner, which copy(to) writes.
    template <class T, class Copy>
    static void mix(mixture const& m, size_t count, T* out, Copy const& copy) {
        std::vector<T> other(count);
        copy(other.data());
        for (size_t i = 0; i < count; ++i) {
            out[i] = m.blend(out[i], other[i]);
        }
    }
    template <size_t I, class T>
    void mix_target(mixture const& m, size_t sample, T* out) const {
        using unmixed = adaptor<Data>;
        unmixed::template copy_target<I>(sample, out);
        mix(m, target_shape<typename targets_of<Data>::template at<I>>::count, out,
            [&](T* other) { unmixed::template copy_target<I>(m.partner, other); });
    }

private:
    double alpha_;
};

template <size_t Number, class Input>
struct input_to_mix { // a class, so that every compiler prints the input
    static_assert(whole_numbers_of<Input>.values == 0,
                  "castnet: mixup mixes all inputs, and ids cannot be mixed; see "
                  "input_to_mix<number, input>");
    static constexpr bool checked = true;
};

template <class Data>
class mixup_set : public mixed<Data> {
    using unmixed = adaptor<Data>;
    static_assert([]<size_t... I>(std::index_sequence<I...>) {
        return (input_to_mix<I, typename Data::template input_shape<I>>::checked && ...);
    }(std::make_index_sequence<Data::input_count>{}));

public:
    static constexpr bool cuts_images = false;

    mixup_set(Data data, double alpha) : mixed<Data>{std::move(data), "data::mixup", alpha} {}

    mixture mixture_for(size_t sample) const {
        auto random = this->random_of(sample);
        return this->draw(random);
    }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        mixture const m = mixture_for(sample);
        unmixed::template copy_input<I>(sample, out);
        this->mix(m, Data::template input_shape<I>::count, out,
                  [&](T* other) { unmixed::template copy_input<I>(m.partner, other); });
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        this->template mix_target<I>(mixture_for(sample), sample, out);
    }
};

template <class Data>
class cutmix_set : public mixed<Data> {
    using unmixed = adaptor<Data>;
    using image = typename Data::template input_shape<0>;
    static_assert(image::rank == 3,
                  "castnet: cutmix cuts images: the first input of the data set needs a shape of "
                  "channels, height and width");

public:
    static constexpr bool cuts_images = true;

    cutmix_set(Data data, double alpha) : mixed<Data>{std::move(data), "data::cutmix", alpha} {}

    // The sample's share is that of the pixels outside of the cut.
    mixture mixture_for(size_t sample) const {
        auto random = this->random_of(sample);
        mixture m = this->draw(random);
        double const side = 0.5 * std::sqrt(1 - m.share);
        auto const range = [&](size_t whole) {
            size_t const middle = random.below(whole);
            auto const half = size_t(side * double(whole));
            size_t const first = middle - std::min(middle, half);
            return std::pair{first, std::min(middle + half, whole) - first};
        };
        auto const [x, columns] = range(width);
        auto const [y, rows] = range(height);
        m.cut = {x, y, columns, rows};
        m.share = 1 - double(columns * rows) / double(width * height);
        return m;
    }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        unmixed::template copy_input<I>(sample, out);
        if constexpr (I == 0) {
            mixture const m = mixture_for(sample);
            rectangle const& cut = m.cut;
            std::vector<T> other(image::count);
            unmixed::template copy_input<I>(m.partner, other.data());
            for (size_t c = 0; c < image::extent[0]; ++c) {
                for (size_t y = cut.y; y < cut.y + cut.height; ++y) {
                    size_t const at = (c * height + y) * width + cut.x;
                    std::copy_n(other.data() + at, cut.width, out + at);
                }
            }
        }
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        this->template mix_target<I>(mixture_for(sample), sample, out);
    }

private:
    static constexpr size_t height = image::extent[1], width = image::extent[2];
};

// share * sample + (1 - share) * partner, of all inputs and targets: Zhang et al., 2018
// (arXiv:1710.09412), the MixUp of torchvision and of Keras. The share is of Beta(alpha, alpha) and
// the partner any sample of the data set, both drawn for each sample by the model's seed, the epoch
// and the sample's number: not for a batch, so that nothing depends on batches, workers or
// processes. Targets must be numbers: mixup(one_hot(p)). A sample keeps its own weight. Two samples
// are read for each, so a cache() within may pay. Throws castnet::error unless alpha is finite and
// above 0.
template <class Data>
mixup_set<Data> mixup(Data data, double alpha = 1) {
    return {std::move(data), alpha};
}

// Images with a rectangle of another one's pixels, whose targets are mixed by its area: Yun et al.,
// 2019 (arXiv:1905.04899), torchvision's CutMix. Drawn as those of mixup; other inputs stay as they
// are.
template <class Data>
cutmix_set<Data> cutmix(Data data, double alpha = 1) {
    return {std::move(data), alpha};
}

} // namespace castnet::data
