// Device-resident data set: the inputs and targets of all samples in the memory of a device that
// has its own, in the device's order. A column of bytes stays one, with a table of their values, so
// the numbers are those of the host to the last bit.
#pragma once

#include <castnet/data/on_device.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/compiled_step.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace castnet::detail {

// Of input I, or of target I - input_count.
template <size_t I, class Data>
data::column const* byte_column(Data const& data) {
    if constexpr (requires { data.template column_of<I>(); }) {
        data::column const& c = data.template column_of<I>();
        return c.bytes() ? &c : nullptr;
    } else {
        return nullptr;
    }
}
// Bytes of a sample there.
template <class Data>
unsigned char const* bytes_of(Data const& data, data::column const& in, size_t sample,
                              size_t count) {
    if constexpr (requires { data.number_in_columns(sample); }) {
        return in.bytes() + data.number_in_columns(sample) * count;
    } else { // which has no columns
        return nullptr;
    }
}
template <size_t I, class Data, class T>
void copy_numbers(Data const& data, size_t sample, T* out) {
    if constexpr (I < Data::input_count) {
        data.template copy_input<I>(sample, out);
        check_ids<typename Data::template input_shape<I>, I>(out, sample);
    } else {
        data::copy_target<I - Data::input_count>(data, sample, out);
    }
}

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
        place(data, each{});
        try {
            memory_ = where.allocate(bytes_);
        } catch (error const& e) {
            throw error({"castnet: on_device: the data set of ", data.size(), " samples takes ",
                         bytes_,
                         " bytes on the device; train without on_device, or with fewer samples. ",
                         e.what()});
        }
    }

    // Copies the samples there, after earlier work of the device's session.
    template <class Data>
    void fill(typename Device::session const& where, Data const& data) {
        fill(where, data, each{});
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

    template <class Data, size_t... I>
    void place(Data const& data, std::index_sequence<I...>) {
        (..., place_one<I, nth_of<I, shapes>>(data));
    }
    template <size_t I, class Logical, class Data>
    void place_one(Data const& data) {
        size_t const numbers = data.size() * Logical::count;
        if (byte_column<I>(data)) {
            bytes_at_[I] = take<unsigned char>(numbers);
            values_at_[I] = take<T>(256);
        } else {
            values_at_[I] = take<T>(numbers);
        }
    }

    template <class Data, size_t... I>
    void fill(typename Device::session const& where, Data const& data, std::index_sequence<I...>) {
        (..., fill_one<I, nth_of<I, shapes>>(where, data));
    }
    template <size_t I, class Logical, class Data>
    void fill_one(typename Device::session const& where, Data const& data) {
        char* const start = memory_.template as<char>();
        T* const values = reinterpret_cast<T*>(start + values_at_[I]);
        if (data::column const* const column = byte_column<I>(data)) {
            auto* const bytes = reinterpret_cast<unsigned char*>(start + bytes_at_[I]);
            where.write(values, 256, [&](T* to) {
                for (int b = 0; b < 256; ++b) {
                    to[b] = column->template value_of<T>(static_cast<unsigned char>(b));
                }
            });
            write_samples<Logical>(where, data.size(), bytes, [&](size_t sample, auto* to) {
                constexpr size_t count = Logical::count;
                std::copy_n(bytes_of(data, *column, sample, count), count, to);
            });
            arrays_[I] = {bytes, values};
        } else {
            write_samples<Logical>(where, data.size(), values, [&](size_t sample, T* to) {
                copy_numbers<I>(data, sample, to);
            });
            arrays_[I] = {nullptr, values};
        }
    }

    // copy(sample, to) writes one in logical order. Some megabytes at a time.
    template <class Logical, class U, class Copy>
    static void write_samples(typename Device::session const& where, size_t samples, U* to,
                              Copy const& copy) {
        constexpr size_t count = Logical::count;
        constexpr size_t at_once = std::max<size_t>(1, (size_t{4} << 20) / count);
        std::vector<U> staging(count);
        for (size_t first = 0; first < samples; first += at_once) {
            size_t const some = std::min(at_once, samples - first);
            where.write(to + first * count, std::ptrdiff_t(some * count), [&](U* out) {
                for (size_t i = 0; i < some; ++i) {
                    place_sample<Device, Logical>(out + i * count, staging.data(), [&](U* sample) {
                        data::reading_sample(first + i, [&] { copy(first + i, sample); });
                    });
                }
            });
        }
    }

    size_t bytes_ = 0;
    size_t bytes_at_[shapes::size]{}, values_at_[shapes::size]{};
    array arrays_[shapes::size]{};
    typename Device::memory memory_;
};

} // namespace castnet::detail
