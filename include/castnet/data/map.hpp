// Mapped data set: inputs are computed from those of another one.
#pragma once

#include <castnet/data/adaptor.hpp>

#include <vector>

namespace castnet::data {

template <class To, class Data, class F>
class mapped : public adaptor<Data> {
    using from = typename Data::template input_shape<0>;

public:
    template <size_t I>
    using input_shape = std::conditional_t<I == 0, To, typename Data::template input_shape<I>>;

    mapped(Data data, F f) : adaptor<Data>{std::move(data)}, f_{std::move(f)} {}

    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        if constexpr (I == 0) {
            std::vector<T> in(from::count);
            adaptor<Data>::template copy_input<0>(sample, in.data());
            f_(std::span<T const, from::count>{in}, std::span<T, To::count>{out, To::count});
        } else {
            adaptor<Data>::template copy_input<I>(sample, out);
        }
    }

private:
    F f_;
};

// The samples of a data set with another first input, of shape To, that f(in, out) writes: two
// spans of numbers in logical order. Workers of prefetch() call it at the same time.
template <Shape To, class Data, class F>
mapped<To, Data, F> map(Data data, F f) {
    return {std::move(data), std::move(f)};
}

} // namespace castnet::data
