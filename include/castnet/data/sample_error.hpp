// Errors of samples: of one that is not there, or could not be read.
#pragma once

#include <castnet/core/error.hpp>

#include <cstddef>
#include <exception>

namespace castnet {

// Exception of a data set, or of a program's own function in one, for a sample, unless it was
// a castnet::error, which says what is wrong itself. std::rethrow_if_nested() throws the original.
struct sample_error : error, std::nested_exception {
    // Within a handler of the original.
    [[gnu::cold]] sample_error(std::size_t number, char const* what)
        : error{{"castnet: sample ", number, " of the data: ", what}}, sample{number} {}
    // The same with the epoch of fit(), from 1.
    [[gnu::cold]] sample_error(sample_error const& other, std::size_t epoch)
        : error{{"castnet: fit: epoch ", epoch, ": ",
                 std::string_view{other.what()}.substr(sizeof "castnet: " - 1)}},
          std::nested_exception{other}, sample{other.sample} {}

    std::size_t sample; // its number
};

namespace data {

namespace detail {

[[noreturn, gnu::cold]] inline void refuse_sample(char const* data_set, std::size_t number,
                                                  std::size_t size) {
    throw error(
        {"castnet: ", data_set, ": found sample number ", number, ", expected one below ", size});
}

// Throws castnet::error unless a data set of this size has the sample.
inline void check_sample(char const* data_set, std::size_t number, std::size_t size) {
    if (number >= size) {
        refuse_sample(data_set, number, size);
    }
}

// Throws the exception that is being handled on, within a sample_error unless it is castnet's own.
[[noreturn, gnu::cold]] inline void throw_of_sample(std::size_t sample) {
    try {
        throw;
    } catch (error const&) {
        throw;
    } catch (std::exception const& e) {
        throw sample_error{sample, e.what()};
    } catch (...) {
        throw sample_error{sample, "its data set threw something that is not a std::exception"};
    }
}

} // namespace detail

// Calls f(), which reads a sample. Throws what it throws within a sample_error, if it is no
// castnet::error.
template <class F>
decltype(auto) reading_sample(std::size_t sample, F const& f) {
    try {
        return f();
    } catch (...) {
        detail::throw_of_sample(sample);
    }
}

} // namespace data
} // namespace castnet
