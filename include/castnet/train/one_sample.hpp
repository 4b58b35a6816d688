// The numbers of one sample, and the room for those of an output, as predict_one() takes them.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>

#include <span>
#include <type_traits>

namespace castnet {

// Classes, so that every compiler prints their arguments.
template <class Expected, class Given>
struct predict_one_takes {
    static_assert(detail::never<Given>,
                  "castnet: predict_one takes the numbers of a sample and where to write those of "
                  "an output: two vectors, arrays or spans of the model's element type (of "
                  "std::int32_t for input_ids), or pointers; see predict_one_takes<element "
                  "expected, what was given>");
    static constexpr bool checked = true;
};
template <size_t Expected, size_t Given>
struct numbers_of_one_sample {
    static_assert(Expected == Given || Given == std::dynamic_extent,
                  "castnet: an array given to predict_one has another size than a sample of the "
                  "network, or than its output; see numbers_of_one_sample<expected, given>");
    static constexpr bool checked = true;
};

template <size_t Expected, size_t Given>
struct arguments_of_predict_one {
    static_assert(Expected == Given,
                  "castnet: predict_one takes the numbers of each input of the network, and then "
                  "where to write those of each output that it lists: predict_one<0, 1>(input, "
                  "first, second); predict(input) returns them; see "
                  "arguments_of_predict_one<expected, given>");
    static constexpr bool checked = true;
};

namespace detail {

// A pointer as it is; the numbers of a vector, array or span, which must be `Count`. Throws
// castnet::error otherwise, where the compiler does not know how many there are: they are those of
// one of several inputs or outputs.
template <class T, size_t Count, class Given>
T* numbers_of_one(Given& given, char const* what, size_t number, size_t several) {
    if constexpr (!std::is_array_v<Given> && std::is_convertible_v<Given&, T*>) {
        return given;
    } else if constexpr (std::is_convertible_v<Given&, std::span<T>>) {
        static_assert(numbers_of_one_sample<Count, decltype(std::span{given})::extent>::checked);
        std::span<T> const numbers{given};
        if (numbers.size() != Count) {
            throw error({"castnet: predict_one: ", several > 1 ? "" : "the ", what,
                         several > 1 ? string_of({" ", number}) : "", " has ",
                         quantity(numbers.size(), "number"), ", expected ", Count});
        }
        return numbers.data();
    } else {
        static_assert(predict_one_takes<T, Given>::checked);
        return nullptr;
    }
}

} // namespace detail

} // namespace castnet
