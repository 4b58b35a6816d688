// Arguments in braces where a function takes them one by one: a parameter of overloads that say so.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::detail {

struct in_braces {
    template <class... Listed>
    constexpr in_braces(Listed const&...) {}
};

} // namespace castnet::detail
