// Tensors as a data set: their first axis counts the samples.
#pragma once

#include <castnet/data/targets.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <type_traits>

namespace castnet::data {

namespace detail {

// The shape of one sample: a number is a vector of one.
template <size_t Samples, size_t... D>
auto shape_of_sample(shape<Samples, D...>) {
    return std::conditional_t<sizeof...(D) == 0, shape<1>, shape<D...>>{};
}
template <class X>
using sample_shape = decltype(shape_of_sample(typename X::shape_type{}));

// Whether the elements of an argument of type X&& outlive the call: those of a tensor with a name,
// and of any view.
template <class X>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<X> || !requires(X const& x) { x.view(); };

template <class Type, class Targets>
struct target_of {
    using type = Type;
};
template <class Targets>
struct target_of<void, Targets> {
    using type = sample_shape<Targets>;
};

} // namespace detail

// The samples of of_tensors. Views: the tensors must outlive it.
template <class Type, class Features, class Targets>
class tensor_samples {
public:
    using target_type = Type;
    static constexpr size_t input_count = 1;
    template <size_t>
    using input_shape = detail::sample_shape<Features>;

    tensor_samples(Features const& features, Targets const& targets)
        : features_{features}, targets_{targets} {}

    static constexpr size_t size() { return Features::shape_type::extent[0]; }
    template <size_t, class T>
    void copy_input(size_t sample, T* out) const {
        copy<input_shape<0>::count>(features_, sample, out);
    }
    template <class T>
    void copy_target(size_t sample, T* out) const {
        copy<target_shape<Type>::count>(targets_, sample, out);
    }

private:
    template <size_t Count, class X, class T>
    static void copy(X const& x, size_t sample, T* out) {
        auto const* const from = x.data() + sample * Count;
        std::transform(from, from + Count, out, [](auto each) { return static_cast<T>(each); });
    }

    Features features_;
    Targets targets_;
};

// features (samples, extents of an input…) and targets (samples, extents of a target…) as a data
// set for fit(), evaluate() and step(), without a copy: the tensors must outlive it. Targets are
// real numbers, or class numbers: of_tensors<label<10>>(features, labels).
template <class Type = void, TensorExpression X, TensorExpression Y>
auto of_tensors(X&& features, Y&& targets) {
    using Features = std::remove_cvref_t<X>;
    using Targets = std::remove_cvref_t<Y>;
    static_assert(detail::outlives_call<X> && detail::outlives_call<Y>,
                  "castnet: data::of_tensors keeps views of the elements: give temporary tensors "
                  "names");
    static_assert(
        Features::shape_type::rank > 1 && Targets::shape_type::rank > 0 &&
            Features::shape_type::extent[0] == Targets::shape_type::extent[0],
        "castnet: data::of_tensors needs features (samples, extents...) and as many targets");
    static_assert(
        requires {
            features.data();
            targets.data();
        } && Features::is_flat && Targets::is_flat,
        "castnet: data::of_tensors keeps views of the elements in rows: evaluate() expressions and "
        "views in another order into tensors with names");
    using target = typename detail::target_of<Type, Targets>::type;
    static_assert(target_shape<target>::count == detail::sample_shape<Targets>::count,
                  "castnet: data::of_tensors: the targets of a sample are not those of this type");
    auto const view = []<class Z>(Z const& x) {
        return tensor_view<typename Z::value_type const, typename Z::shape_type>{x.data()};
    };
    return tensor_samples<target, decltype(view(features)), decltype(view(targets))>{view(features),
                                                                                     view(targets)};
}

} // namespace castnet::data
