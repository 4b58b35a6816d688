// Number from text: std::from_chars, also of a double where the standard library has it of integers
// only, as libc++ 19 does.
#pragma once

#include <castnet/core/language.hpp>

#include <charconv>

#ifndef __cpp_lib_to_chars
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <locale.h> // newlocale
#include <stdlib.h> // strtod_l
#include <string>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#endif

namespace castnet::detail {

using std::from_chars;

#ifndef __cpp_lib_to_chars

inline std::from_chars_result from_chars(char const* first, char const* last, double& value) {
    static locale_t const c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    // (what strtod reads besides: white space and a plus before the number, and hexadecimal ones)
    bool const begins = first != last && *first != '+' && (*first == '-' || *first > ' ');
    std::string const text(first, std::find_if(first, last, [](char c) {
                               return c == 'x' || c == 'X' || (c >= 0 && c <= ' ');
                           }));
    char* end = nullptr;
    errno = 0;
    double const read = strtod_l(text.c_str(), &end, c_locale);
    if (!begins || end == text.c_str()) {
        return {first, std::errc::invalid_argument};
    }
    char const* const rest = first + (end - text.c_str());
    // (of a number below the smallest normal one, too, strtod may say that it is out of range)
    if (errno == ERANGE && (read == 0 || std::abs(read) == HUGE_VAL)) {
        return {rest, std::errc::result_out_of_range};
    }
    value = read;
    return {rest, std::errc{}};
}

#endif

} // namespace castnet::detail
