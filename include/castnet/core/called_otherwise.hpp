// Call of other libraries that castnet has under another name: only for its message.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::detail {

// As a static member of a class. Sentence<arguments…> says what to call instead.
template <template <class...> class Sentence>
struct called_otherwise {
    template <class... Given>
    constexpr auto operator()(Given const&...) const { // auto: the sentence is the first error
        static_assert(Sentence<Given...>::checked);
    }
};

} // namespace castnet::detail
