// Losses by class numbers whose classes have weights, class_weighted<cross_entropy, 17>: for labels
// of steps or pixels (PyTorch's CrossEntropyLoss(weight=…) of such labels).
#pragma once

#include <castnet/graph/scalar.hpp>
#include <castnet/nn/class_numbers.hpp>
#include <castnet/nn/loss.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace castnet {

// A class, so that every compiler prints the numbers.
template <size_t Given, size_t Classes>
struct weighs_all_classes {
    static_assert(Given == Classes,
                  "castnet: class_weighted<loss, classes>: the prediction has another number of "
                  "classes; see weighs_all_classes<given, classes>");
    static constexpr bool checked = true;
};

namespace detail {

template <size_t... I>
constexpr std::array<scalar, sizeof...(I)> all_one(std::index_sequence<I...>) {
    return {(void(I), scalar{1})...};
}

} // namespace detail

// The mean over a sample's steps or pixels that count, each with the weight of its class, as
// fit_options::class_weight gives it, or 1 without. As that of a sample with one label, the weight
// of a sample has the mean of these as a factor. So a step minimises
//     sum of weight * loss  /  sum of weights
// over the steps or pixels of all samples, of which in each sample as many count (if not, PyTorch's
// mean is that of samples whose weights are the numbers of those that count).
template <auto Loss, size_t Classes>
struct class_weighted_loss {
    static constexpr char const* name = std::remove_cvref_t<decltype(Loss)>::name;
    static constexpr bool labels = true;
    static constexpr size_t weighed_classes = Classes;
    static_assert(
        !requires { Loss.ignored_index; },
        "castnet: class_weighted takes a loss without ignore_index, where the weight 0 of "
        "a class has that effect");
    static_assert(Classes > 0, "castnet: class_weighted<loss, classes>: a label has classes");
    std::array<scalar, Classes> weight = detail::all_one(std::make_index_sequence<Classes>{});

    template <Shape S, LabelOf<S> Label>
    constexpr auto operator()(symbol<S> logits, symbol<Label> label) const {
        constexpr size_t classes = channels_of<S>;
        static_assert(weighs_all_classes<Classes, classes>::checked);
        auto const each = Loss.beside_each(logits, label);
        auto const numbers = channel_index<shape<classes>>(*logits.g);
        auto of_class = where(equal(numbers, 0), weight[0], 0);
        for (size_t k = 1; k < std::min(Classes, classes); ++k) {
            of_class = where(equal(numbers, double(k)), weight[k], of_class);
        }
        auto const hit = equal(detail::channel_numbers<S>(*logits.g), detail::beside<S>(label));
        auto const of_each = sum_channels(where(hit, along_channels<S>(of_class), 0));
        auto const total = sum(of_each);
        return sum(where(of_each, of_each * each, 0)) / where(total, total, 1);
    }
};
template <auto Loss, size_t Classes>
inline constexpr class_weighted_loss<Loss, Classes> class_weighted{};

} // namespace castnet
