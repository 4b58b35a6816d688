// Axes that count from the last one, sum<-1>(x) as in NumPy, which are refused with a sentence: of
// tensors and of symbols alike.
#pragma once

#include <castnet/tensor/mistakes.hpp>

namespace castnet {

// A class, so that every compiler prints the axes.
template <auto... Given>
struct axes_count_from_first {
    static_assert(!(detail::negative<Given> || ...),
                  "castnet: axes count from the first, which is 0, not from the last: the sum of a "
                  "matrix's rows, np.sum(x, axis=-1), is sum<1>(x); see "
                  "axes_count_from_first<axes...>");
    static constexpr bool checked = true;
};

// (a macro, since a function template has its name from nothing else)
#define CASTNET_AXES_COUNT_FROM_FIRST(function)                                                    \
    template <auto... Axes, class X, class... More>                                                \
        requires(detail::negative<Axes> || ...)                                                    \
    constexpr auto function(X const& x, More const&...) {                                          \
        return detail::written_otherwise<axes_count_from_first<Axes...>>(x);                       \
    }
CASTNET_AXES_COUNT_FROM_FIRST(sum)
CASTNET_AXES_COUNT_FROM_FIRST(mean)
CASTNET_AXES_COUNT_FROM_FIRST(prod)
CASTNET_AXES_COUNT_FROM_FIRST(min)
CASTNET_AXES_COUNT_FROM_FIRST(max)
CASTNET_AXES_COUNT_FROM_FIRST(argmin)
CASTNET_AXES_COUNT_FROM_FIRST(argmax)
CASTNET_AXES_COUNT_FROM_FIRST(any)
CASTNET_AXES_COUNT_FROM_FIRST(all)
CASTNET_AXES_COUNT_FROM_FIRST(variance)
CASTNET_AXES_COUNT_FROM_FIRST(standard_deviation)
CASTNET_AXES_COUNT_FROM_FIRST(norm)
CASTNET_AXES_COUNT_FROM_FIRST(logsumexp)
CASTNET_AXES_COUNT_FROM_FIRST(nansum)
CASTNET_AXES_COUNT_FROM_FIRST(nanmean)
CASTNET_AXES_COUNT_FROM_FIRST(nanmin)
CASTNET_AXES_COUNT_FROM_FIRST(nanmax)
CASTNET_AXES_COUNT_FROM_FIRST(median)
CASTNET_AXES_COUNT_FROM_FIRST(quantile)
CASTNET_AXES_COUNT_FROM_FIRST(sort)
CASTNET_AXES_COUNT_FROM_FIRST(argsort)
CASTNET_AXES_COUNT_FROM_FIRST(cumsum)
CASTNET_AXES_COUNT_FROM_FIRST(cumprod)
CASTNET_AXES_COUNT_FROM_FIRST(diff)
CASTNET_AXES_COUNT_FROM_FIRST(concatenate)
CASTNET_AXES_COUNT_FROM_FIRST(stack)
CASTNET_AXES_COUNT_FROM_FIRST(flip)
CASTNET_AXES_COUNT_FROM_FIRST(roll)
CASTNET_AXES_COUNT_FROM_FIRST(take)
CASTNET_AXES_COUNT_FROM_FIRST(take_along_axis)
CASTNET_AXES_COUNT_FROM_FIRST(select)
CASTNET_AXES_COUNT_FROM_FIRST(split)
CASTNET_AXES_COUNT_FROM_FIRST(transpose)
CASTNET_AXES_COUNT_FROM_FIRST(expand_dims)
CASTNET_AXES_COUNT_FROM_FIRST(squeeze)
CASTNET_AXES_COUNT_FROM_FIRST(repeat_interleave)
#undef CASTNET_AXES_COUNT_FROM_FIRST

} // namespace castnet
