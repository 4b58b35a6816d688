// The part of a function<F> that is data: one mask per input, see expr/function.hpp.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::detail {

template <unsigned... Reads>
struct derivative_reads {
    static constexpr int arity = static_cast<int>(sizeof...(Reads));
    static constexpr unsigned reads[sizeof...(Reads)] = {Reads...};
};

} // namespace castnet::detail
