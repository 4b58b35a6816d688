// Device-resident data set: the inputs and targets of all samples in the memory of a device that
// has its own, in the device's order. A column of bytes stays one, with a table of their values, so
// the numbers are those of the host to the last bit.
#pragma once

#include <castnet/data/augment.hpp>
#include <castnet/data/mixture.hpp>
#include <castnet/data/on_device.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/train/device_samples.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::detail {

template <class Device, class Inputs, class Targets>
class device_dataset;
template <class Device, Shape... S, class... Target>
class device_dataset<Device, type_list<S...>, data::targets<Target...>> {
    using T = typename Device::value_type;
    using array = typename Device::stored_array;
    using shapes = type_list<S..., data::target_shape<Target>...>;
    using each = std::make_index_sequence<shapes::size>;

public:
    // Room for the samples.
    template <class Data>
    device_dataset(typename Device::session const& where, Data const& data) {
        if (data.size() > std::numeric_limits<std::uint32_t>::max()) {
            throw error({"castnet: on_device: the data set holds ", data.size(),
                         " samples, more than 32 bits number; train without on_device"});
        }
        place(data);
        try {
            memory_ = where.allocate(bytes_);
        } catch (error const& e) {
            throw error({"castnet: on_device: the data set of ", data.size(), " samples takes ",
                         bytes_,
                         " bytes on the device; train without on_device, or with fewer samples. ",
                         e.what()});
        }
    }

    // Copies the samples there, after earlier work of the device's session; of those that the
    // device can change, only once. launch(body) runs a body on the device.
    template <class Data, class Launch>
    void fill(typename Device::session const& where, Data const& data,
              [[maybe_unused]] Launch const& launch) {
        if constexpr (mixes_samples<Data>()) {
            if (!has_samples_) {
                fill(where, data.base(), launch);
                std::copy(std::begin(arrays_), std::end(arrays_), unmixed_);
                has_samples_ = true; // (which an exception of the data set prevents)
            } else if constexpr (draws_images<std::remove_cvref_t<decltype(data.base())>>()) {
                fill(where, data.base(), launch);
            }
            mix_samples(where, data, launch, each{});
        } else if constexpr (draws_images<Data>()) {
            if (!has_images_) {
                fill(where, data, each{});
                has_images_ = true;
            }
            draw_images<nth_of<0, shapes>>(where, data, launch);
        } else {
            fill(where, data, each{});
        }
    }

    std::span<array const> arrays() const { return arrays_; }
    size_t bytes() const { return bytes_; }

private:
    // Room for `count` numbers of type U.
    template <class U>
    size_t take(size_t count) {
        constexpr size_t unit = size_t(Device::alignment) * sizeof(T);
        return std::exchange(bytes_, bytes_ + (count * sizeof(U) + unit - 1) / unit * unit);
    }

    template <class Data>
    void place(Data const& data) {
        if constexpr (mixes_samples<Data>()) {
            place(data.base());
            mixtures_at_ = take<data::mixture>(std::min(data.size(), samples_to_mix));
            place_mixed<Data>(data.size(), each{});
        } else {
            place(data, each{});
        }
    }
    template <class Data, size_t... I>
    void place(Data const& data, std::index_sequence<I...>) {
        (..., place_one<I, nth_of<I, shapes>>(data));
    }
    template <size_t I, class Logical, class Data>
    void place_one(Data const& data) {
        if constexpr (I == 0 && draws_images<Data>()) {
            place_images<Logical>(data);
        } else {
            places_[I] = placed<I, Logical>(data);
        }
    }
    // Where an array lies, in bytes.
    struct array_places {
        size_t bytes = 0, values = 0;
    };
    template <size_t I, class Logical, class Data>
    array_places placed(Data const& data) {
        size_t const numbers = data.size() * Logical::count;
        array_places at;
        if (byte_column<I>(data)) {
            at.bytes = take<unsigned char>(numbers);
            at.values = take<T>(256);
        } else {
            at.values = take<T>(numbers);
        }
        return at;
    }

    template <class Data, size_t... I>
    void fill(typename Device::session const& where, Data const& data, std::index_sequence<I...>) {
        (..., fill_one<I, nth_of<I, shapes>>(where, data));
    }
    template <size_t I, class Logical, class Data>
    void fill_one(typename Device::session const& where, Data const& data) {
        if constexpr (I == 0 && draws_images<Data>()) {
            before_ = copied<0, Logical>(where, data.base(), before_at_);
            arrays_[0] = {nullptr, at<T>(places_[0].values)};
        } else {
            arrays_[I] = copied<I, Logical>(where, data, places_[I]);
        }
    }
    template <size_t I, class Logical, class Data>
    array copied(typename Device::session const& where, Data const& data, array_places place) {
        T* const values = at<T>(place.values);
        if constexpr (HasColumns<Data>) {
            if (data::column const* const column = byte_column<I>(data)) {
                auto* const bytes = at<unsigned char>(place.bytes);
                where.write(values, 256, [&](T* to) {
                    for (int b = 0; b < 256; ++b) {
                        to[b] = column->template value_of<T>(static_cast<unsigned char>(b));
                    }
                });
                write_samples<Logical>(where, data.size(), bytes, [&](size_t sample, auto* to) {
                    constexpr size_t count = Logical::count;
                    std::copy_n(column->bytes() + data.number_in_columns(sample) * count, count,
                                to);
                });
                return {bytes, values};
            }
        }
        write_samples<Logical>(where, data.size(), values,
                               [&](size_t sample, T* to) { copy_numbers<I>(data, sample, to); });
        return {nullptr, values};
    }
    template <class U>
    U* at(size_t place) const {
        return reinterpret_cast<U*>(memory_.template as<char>() + place);
    }

    // Of images that are changed here: as they were before, what is done to some of them, and some
    // between two transforms.
    template <class Data>
    using drawn_of = decltype(std::declval<Data>().drawn_for(0));
    template <class Logical, class Data>
    void place_images(Data const& data) {
        size_t const some = std::min(data.size(), samples_at_once<Logical>);
        before_at_ = placed<0, Logical>(data.base());
        places_[0].values = take<T>(data.size() * Logical::count);
        [&]<class... Drawn>(std::type_identity<std::tuple<Drawn...>>) {
            drawn_at_ = take<char>(std::max({size_t{0}, sizeof(Drawn)...}) * some);
            for (size_t i = 0; i + 1 < sizeof...(Drawn) && i < 2; ++i) {
                between_at_[i] = take<T>(some * Logical::count);
            }
            if constexpr ((data::MeasuresImage<Drawn> || ...)) {
                sums_at_ = take<double>(some * Logical::extent[1]);
            }
        }(std::type_identity<drawn_of<Data>>{});
    }
    template <class Logical, class Data, class Launch>
    void draw_images(typename Device::session const& where, Data const& data,
                     Launch const& launch) {
        std::vector<drawn_of<Data>> drawn;
        for (size_t first = 0; first < data.size(); first += drawn.size()) {
            drawn.clear();
            while (drawn.size() < samples_at_once<Logical> && first + drawn.size() < data.size()) {
                drawn.push_back(data.drawn_for(first + drawn.size()));
            }
            size_t const skipped = first * Logical::count;
            array const from = before_.bytes != nullptr
                                   ? array{before_.bytes + skipped, before_.values}
                                   : array{nullptr, before_.values + skipped};
            transform<0, Logical>(where, drawn, from, at<T>(places_[0].values) + skipped, launch);
        }
    }
    // Transform number K of some images and those after it, whose results lie at `to`.
    template <size_t K, class Logical, class Drawn, class Launch>
    void transform(typename Device::session const& where, std::vector<Drawn> const& all,
                   array const& from, T* to, Launch const& launch) const {
        using drawn = std::tuple_element_t<K, Drawn>;
        static_assert(std::is_trivially_copyable_v<drawn>);
        constexpr bool is_last = K + 1 == std::tuple_size_v<Drawn>;
        drawn* const there = at<drawn>(drawn_at_);
        where.write(there, std::ptrdiff_t(all.size()), [&](drawn* out) {
            std::transform(all.begin(), all.end(), out,
                           [](Drawn const& one) { return std::get<K>(one); });
        });
        T* const result = is_last ? to : at<T>(between_at_[K % 2]);
        std::ptrdiff_t const images = std::ptrdiff_t(all.size());
        int const channels = int(Logical::extent[0]), height = int(Logical::extent[1]),
                  width = int(Logical::extent[2]);
        if constexpr (data::MeasuresImage<drawn>) {
            double* const sums = at<double>(sums_at_);
            launch(Device::image_row_sums(there, from, sums, images, channels, height, width));
            launch(Device::image_sums(there, sums, images, height, width));
        }
        launch(Device::image_transform(there, from, result, images, channels, height, width));
        if constexpr (!is_last) {
            transform<K + 1, Logical>(where, all, {nullptr, result}, to, launch);
        }
    }

    // Of samples that are mixed: the arrays that change by it, and some mixtures.
    template <class Data, size_t... I>
    void place_mixed(size_t samples, std::index_sequence<I...>) {
        (...,
         (mixed_at_[I] = mixes_array<I, Data>() ? take<T>(samples * nth_of<I, shapes>::count) : 0));
    }
    template <class Data, class Launch, size_t... I>
    void mix_samples(typename Device::session const& where, Data const& data, Launch const& launch,
                     std::index_sequence<I...>) {
        auto* const there = at<data::mixture>(mixtures_at_);
        for (size_t first = 0; first < data.size(); first += samples_to_mix) {
            size_t const some = std::min(samples_to_mix, data.size() - first);
            where.write(there, std::ptrdiff_t(some), [&](data::mixture* out) {
                for (size_t i = 0; i < some; ++i) {
                    out[i] = data.mixture_for(first + i);
                }
            });
            (..., mix_array<I, Data>(there, first, some, launch));
        }
    }
    template <size_t I, class Data, class Launch>
    void mix_array(data::mixture const* there, size_t first, size_t some, Launch const& launch) {
        if constexpr (mixes_array<I, Data>()) {
            using logical = nth_of<I, shapes>;
            auto const samples = std::ptrdiff_t(some);
            T* const to = at<T>(mixed_at_[I]);
            if constexpr (I == 0 && Data::cuts_images) {
                launch(Device::image_mixing(there, unmixed_[I], to, first, samples,
                                            int(logical::extent[0]), int(logical::extent[1]),
                                            int(logical::extent[2])));
            } else {
                launch(Device::mixing(there, unmixed_[I], to, first, samples,
                                      std::ptrdiff_t(logical::count)));
            }
            arrays_[I] = {nullptr, to};
        }
    }

    template <class Logical>
    static constexpr size_t samples_at_once =
        std::max<size_t>(1, (size_t{4} << 20) / Logical::count);
    static constexpr size_t samples_to_mix =
        std::min({samples_at_once<S>..., samples_at_once<data::target_shape<Target>>...});

    // copy(sample, to) writes one in logical order. Some megabytes at a time.
    template <class Logical, class U, class Copy>
    static void write_samples(typename Device::session const& where, size_t samples, U* to,
                              Copy const& copy) {
        constexpr size_t count = Logical::count;
        constexpr size_t at_once = samples_at_once<Logical>;
        std::vector<U> staging(count);
        for (size_t first = 0; first < samples; first += at_once) {
            size_t const some = std::min(at_once, samples - first);
            where.write(to + first * count, std::ptrdiff_t(some * count), [&](U* out) {
                for (size_t i = 0; i < some; ++i) {
                    place_sample<Logical>(out + i * count, staging.data(), [&](U* sample) {
                        data::reading_sample(first + i, [&] { copy(first + i, sample); });
                    });
                }
            });
        }
    }

    size_t bytes_ = 0;
    array_places places_[shapes::size]{};
    array arrays_[shapes::size]{};
    array_places before_at_{};
    size_t sums_at_ = 0, drawn_at_ = 0, between_at_[2]{};
    array before_{};
    bool has_images_ = false;
    size_t mixtures_at_ = 0, mixed_at_[shapes::size]{};
    array unmixed_[shapes::size]{};
    bool has_samples_ = false;
    typename Device::memory memory_;
};

} // namespace castnet::detail
