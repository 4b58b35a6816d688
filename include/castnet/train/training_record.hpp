// The metadata of a checkpoint: numbers and texts by key. Doubles come back bit by bit.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/from_chars.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/safetensors.hpp>

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace castnet::detail {

class training_record {
public:
    training_record() = default;
    [[gnu::noinline]] training_record(io::safetensors_metadata values, std::string file)
        : values_{std::move(values)}, file_{std::move(file)} {}

    [[gnu::noinline]] void put(std::string const& key, char const* text) { at(key) = text; }
    [[gnu::noinline]] void put(std::string const& key, std::uint64_t value) {
        at(key) = string_of({value});
    }
    [[gnu::noinline]] void put(std::string const& key, std::span<double const> numbers) {
        at(key) = text_of(numbers);
    }
    void put(std::string const& key, double value) { put(key, std::span{&value, 1}); }

    [[gnu::noinline]] static std::string text_of(std::span<double const> numbers) {
        std::string all;
        for (double const x : numbers) {
            char digits[32];
            all += all.empty() ? "" : " ";
            all.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
        }
        return all;
    }

    bool has(std::string const& key) const { return values_.contains("castnet." + key); }

    // Throws file_error if it is not there.
    [[gnu::noinline]] std::string const& text(std::string const& key) const {
        auto const found = values_.find("castnet." + key);
        if (found == values_.end()) {
            throw file_error(file_, {"its metadata has no 'castnet.", key,
                                     "': it is not a checkpoint of a training; load weights into "
                                     "the model"});
        }
        return found->second;
    }

    // Numbers that lie in a range. Throw file_error if there is something else.
    [[gnu::noinline]] std::uint64_t count(std::string const& key, std::uint64_t most) const {
        return one<std::uint64_t>(key, [&](std::uint64_t x) { return x <= most; },
                                  {"a whole number up to ", most});
    }
    bool flag(std::string const& key) const { return count(key, 1) != 0; }
    [[gnu::noinline]] double finite(std::string const& key) const {
        return one<double>(key, is_finite<double>, {"a finite number"});
    }
    [[gnu::noinline]] double not_negative(std::string const& key) const {
        return one<double>(key, [](double const& x) { return is_finite(x) && x >= 0; },
                           {"a finite number that is not negative"});
    }
    [[gnu::noinline]] std::vector<double> numbers(std::string const& key,
                                                  std::size_t expected) const {
        std::vector<double> all = parsed<double>(key);
        if (all.size() != expected) {
            fail(key, {quantity(expected, "number")});
        }
        return all;
    }

    // Throws file_error unless the file and this training have the same; `what` they have.
    [[gnu::noinline]] void require(std::string const& key, std::string const& mine,
                                   char const* what) const {
        if (text(key) != mine) {
            throw file_error(file_,
                             {"was written with the ", what, " ", io::detail::shown(text(key)),
                              ", but this training has ", io::detail::shown(mine),
                              "; compile it as it was, or load the weights alone, into the "
                              "model"});
        }
    }

    io::safetensors_metadata const& metadata() const { return values_; }

private:
    std::string& at(std::string const& key) { return values_["castnet." + key]; }

    [[noreturn, gnu::cold]] void fail(std::string const& key,
                                      std::initializer_list<text_piece> expected) const {
        throw file_error(file_, {"its metadata has ", io::detail::shown(text(key)),
                                 " for 'castnet.", key, "', expected ", string_of(expected)});
    }

    template <class Number>
    [[gnu::noinline]] std::vector<Number> parsed(std::string const& key) const {
        std::string const& s = text(key);
        std::vector<Number> all;
        for (char const *at = s.data(), *const end = at + s.size(); at != end;) {
            Number value{};
            auto const [rest, failure] = from_chars(at, end, value);
            if (failure != std::errc{} || (rest != end && *rest != ' ')) {
                fail(key, {"numbers"});
            }
            all.push_back(value);
            at = rest == end ? end : rest + 1;
        }
        return all;
    }
    template <class Number, class Fits>
    [[gnu::noinline]] Number one(std::string const& key, Fits const& fits,
                                 std::initializer_list<text_piece> expected) const {
        std::vector<Number> const all = parsed<Number>(key);
        if (all.size() != 1 || !fits(all[0])) {
            fail(key, expected);
        }
        return all[0];
    }

    io::safetensors_metadata values_;
    std::string file_;
};

} // namespace castnet::detail
