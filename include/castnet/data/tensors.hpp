// Tensors as a data set: their first axis counts the samples.
#pragma once

#include <castnet/data/targets.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <tuple>
#include <type_traits>

namespace castnet::data {

namespace detail {

// The shape of one sample: a number is a vector of one.
template <size_t Samples, size_t... D>
auto shape_of_sample(shape<Samples, D...>) {
    return std::conditional_t<sizeof...(D) == 0, shape<1>, shape<D...>>{};
}
template <size_t... D>
constexpr size_t samples_in(shape<D...>) {
    constexpr size_t extents[] = {D..., 0};
    return extents[0];
}
template <class... S>
inline constexpr bool as_many_samples = [] {
    size_t const samples[] = {samples_in(S{})...};
    return samples[0] > 0 && std::ranges::count(samples, samples[0]) == sizeof...(S);
}();
template <class X>
using sample_shape = decltype(shape_of_sample(typename X::shape_type{}));

// Whether the elements of an argument of type X&& outlive the call: those of a tensor with a name,
// and of any view.
template <class X>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<X> || !requires(X const& x) { x.view(); };

// The type of the targets; by default the last tensor is one, of real numbers.
template <class Type, class... X>
struct type_of_targets {
    using type = Type;
};
template <class... X>
struct type_of_targets<void, X...> {
    using type = sample_shape<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
};

} // namespace detail

// The samples of of_tensors. Views, of the inputs and then of the targets: the tensors must outlive
// it.
template <TargetType Type, class Inputs, class... Views>
class tensor_samples;
template <TargetType Type, Shape... Inputs, class... Views>
class tensor_samples<Type, std::tuple<Inputs...>, Views...> {
    using all_targets = as_targets<Type>;
    template <size_t I>
    using view = std::tuple_element_t<I, std::tuple<Views...>>;
    template <size_t I>
    static constexpr size_t count = detail::sample_shape<view<I>>::count;

public:
    using target_type = Type;
    static constexpr size_t input_count = sizeof...(Views) - all_targets::count;
    template <size_t I>
    using input_shape = std::tuple_element_t<
        I, std::conditional_t<sizeof...(Inputs) == 0, std::tuple<detail::sample_shape<Views>...>,
                              std::tuple<Inputs...>>>;

    static_assert(sizeof...(Inputs) == 0 || sizeof...(Inputs) == input_count,
                  "castnet: data::of_tensors<target, inputs...> lists all inputs or none");
    static_assert(
        []<size_t... I, size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
            return ((input_shape<I>::count == count<I>) && ... && true) &&
                   ((target_shape<typename all_targets::template at<J>>::count ==
                     count<input_count + J>) &&
                    ... && true);
        }(std::make_index_sequence<input_count>{}, std::make_index_sequence<all_targets::count>{}),
        "castnet: data::of_tensors: the numbers of a sample are not those of these types");

    explicit tensor_samples(Views const&... views) : views_{views...} {}

    static constexpr size_t size() { return view<0>::shape_type::extent[0]; }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        copy<I>(sample, out);
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        copy<input_count + I>(sample, out);
    }

private:
    template <size_t I, class T>
    void copy(size_t sample, T* out) const {
        auto const* const from = std::get<I>(views_).data() + sample * count<I>;
        std::transform(from, from + count<I>, out, [](auto each) { return static_cast<T>(each); });
    }

    std::tuple<Views...> views_;
};

// Tensors (samples, extents of a sample…), one for each input and then one for each target, as a
// data set for fit(), evaluate() and step(), without a copy: the tensors must outlive it. By
// default the last one is the target, of real numbers; label<10> says that it holds class numbers,
// and targets<…> that several are targets, or none. What inputs are need only be said of ids<…>:
//   of_tensors(x, y), of_tensors<label<10>>(x, labels), of_tensors<targets<>>(x),
//   of_tensors<label<10>, ids<1000, 20>>(words, labels)
template <class Type = void, Shape... Inputs, TensorExpression... X>
auto of_tensors(X&&... tensors) {
    static_assert((detail::outlives_call<X> && ...),
                  "castnet: data::of_tensors keeps views of the elements: give temporary tensors "
                  "names");
    static_assert(
        detail::as_many_samples<typename std::remove_cvref_t<X>::shape_type...>,
        "castnet: data::of_tensors needs tensors (samples, extents...) of as many samples");
    static_assert(((requires { tensors.data(); } && std::remove_cvref_t<X>::is_flat) && ...),
                  "castnet: data::of_tensors keeps views of the elements in rows: evaluate() "
                  "expressions and views in another order into tensors with names");
    using target = typename detail::type_of_targets<Type, std::remove_cvref_t<X>...>::type;
    static_assert(sizeof...(X) > as_targets<target>::count,
                  "castnet: data::of_tensors takes a tensor for each input and then one for each "
                  "target of its type, by default one: of_tensors(x, y), "
                  "of_tensors<label<10>>(x, labels), of_tensors<targets<>>(x)");
    auto const view = []<class Z>(Z const& x) {
        return tensor_view<typename Z::value_type const, typename Z::shape_type>{x.data()};
    };
    return tensor_samples<target, std::tuple<Inputs...>, decltype(view(tensors))...>{
        view(tensors)...};
}

} // namespace castnet::data
