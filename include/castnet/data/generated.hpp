// Generated data set: a function computes each sample from its number.
#pragma once

#include <castnet/data/sample_error.hpp>
#include <castnet/data/targets.hpp>

#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::data {

template <size_t Expected, size_t Given>
struct one_function_each { // a class, so that every compiler prints the numbers
    static_assert(Expected == Given,
                  "castnet: data::generated takes one function for each input, then one for each "
                  "target; see one_function_each<expected, given>");
    static constexpr bool checked = true;
};

template <class Function, class Numbers>
struct function_writes {
    static_assert(std::is_invocable_v<Function, size_t, Numbers>,
                  "castnet: data::generated calls a function as f(number of the sample, "
                  "std::span of the numbers to be written), of constant functions, since what a "
                  "sample holds depends on its number alone: a lambda is not mutable; see "
                  "function_writes<function, span>");
    static constexpr bool checked = std::is_invocable_v<Function, size_t, Numbers>;
};

template <class Type, class Inputs, class... F>
class generated_set;
template <TargetType Type, Shape... Inputs, class... F>
class generated_set<Type, std::tuple<Inputs...>, F...> {
    using all_targets = as_targets<Type>;
    static_assert(one_function_each<sizeof...(Inputs) + all_targets::count, sizeof...(F)>::checked);

public:
    using target_type = Type;
    static constexpr size_t input_count = sizeof...(Inputs);
    template <size_t I>
    using input_shape = std::tuple_element_t<I, std::tuple<Inputs...>>;

    explicit generated_set(size_t samples, F... functions)
        : samples_{samples}, functions_{std::move(functions)...} {}

    size_t size() const { return samples_; }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        call<I, input_shape<I>::count>(sample, out);
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        call<input_count + I, target_shape<typename all_targets::template at<I>>::count>(sample,
                                                                                         out);
    }

private:
    template <size_t I, size_t Count, class T>
    void call(size_t sample, T* out) const {
        detail::check_sample("data::generated", sample, samples_);
        using function = std::tuple_element_t<I, std::tuple<F...>>;
        using numbers = std::span<T, Count>;
        if constexpr (function_writes<function const&, numbers>::checked) {
            std::get<I>(functions_)(sample, numbers{out, Count});
        }
    }

    size_t samples_;
    std::tuple<F...> functions_;
};

// A data set of `samples` samples that functions compute, one for each input and then one for each
// target, as f(number, out): the sample's number, from 0, and a span of the numbers to be written,
// in logical order; a label is one number. What they write must depend on the number alone; workers
// of prefetch() call them at the same time. So one that would be a generator in Python computes
// sample i, and nothing depends on the order in which samples are asked for (Keras' PyDataset,
// PyTorch's map-style Dataset).
//   auto squares = data::generated<shape<1>, shape<1>>(
//       100, [](size_t i, auto x) { x[0] = float(i) / 100; },
//       [](size_t i, auto y) { y[0] = float(i * i) / 10000; });
template <TargetType Type, Shape... Inputs, class... F>
generated_set<Type, std::tuple<Inputs...>, F...> generated(size_t samples, F... functions) {
    return generated_set<Type, std::tuple<Inputs...>, F...>{samples, std::move(functions)...};
}

} // namespace castnet::data
