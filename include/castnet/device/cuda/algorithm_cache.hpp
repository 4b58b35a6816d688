// Cache of the fastest algorithms of cuDNN and cuBLASLt: for the process, and from run to run in
// the file that the environment variable CASTNET_ALGORITHM_CACHE names.
#pragma once

#include <castnet/core/spin_lock.hpp>
#include <castnet/core/text.hpp>
#include <castnet/io/atomic_file.hpp>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace castnet::cuda {

struct algorithm_choice {
    int number = 0;          // its place in the list
    std::int64_t engine = 0; // the library's number for the code, to detect another list

    friend bool operator==(algorithm_choice const&, algorithm_choice const&) = default;
};

// Keys are texts of one line that describe the computation and the device.
using algorithm_choices = std::map<std::string, algorithm_choice>;

namespace detail {

inline constexpr std::string_view cache_file_kind = "castnet algorithms ",
                                  cache_file_title = "castnet algorithms 1\n";
inline constexpr std::size_t cache_file_bytes = std::size_t{1} << 20; // a larger file is no cache

// Parses a number and the space after it and removes them from the line.
template <class T>
bool take_number(std::string_view& line, T& number) {
    auto const [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') {
        return false;
    }
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
    return true;
}

} // namespace detail

// Text of the file: a title, and a line "number engine text" for each.
inline std::string text_of(algorithm_choices const& choices) {
    std::string text{detail::cache_file_title};
    for (auto const& [what, choice] : choices) {
        append(text, {choice.number, ' ', choice.engine, ' ', what, '\n'});
    }
    return text;
}

// Parses such a text. Skips damaged lines; empty if the title differs.
inline algorithm_choices algorithm_choices_in(std::string_view text) {
    algorithm_choices all;
    if (!text.starts_with(detail::cache_file_title)) {
        return all;
    }
    text.remove_prefix(detail::cache_file_title.size());
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        auto line = text.substr(0, end);
        algorithm_choice choice;
        if (detail::take_number(line, choice.number) && detail::take_number(line, choice.engine) &&
            choice.number >= 0 && !line.empty()) {
            all.insert_or_assign(std::string{line}, choice);
        }
        text.remove_prefix(end + 1);
    }
    return all;
}

// If the file cannot be read or written, algorithms are only timed more often; a file of another
// kind is left as it is.
class algorithm_cache {
public:
    explicit algorithm_cache(std::string file = "") : file_{std::move(file)} {
        known_ = algorithm_choices_in(content().value_or(""));
    }

    static algorithm_cache& of_process() {
        static algorithm_cache cache{[] {
            char const* const file = std::getenv("CASTNET_ALGORITHM_CACHE");
            return std::string{file != nullptr ? file : ""};
        }()};
        return cache;
    }

    // The fastest candidate, from the cache or by timing now. Equal keys get the same candidate;
    // one thread chooses at a time.
    //
    //   list(n)          the candidates, each with `number` and `engine`: all (n empty), or the one
    //                    with number n; if empty, so is the result
    //   fastest(all)     index of the fastest candidate; nothing if they cannot be compared now:
    //                    the result is the first one then, and is not remembered
    template <class List, class Fastest>
    auto choose(std::string const& what, List const& list, Fastest const& fastest) {
        spin_lock const lock{busy_};
        using candidate = typename decltype(list(std::optional<int>{}))::value_type;
        std::optional<candidate> chosen;
        if (auto const known = known_.find(what); known != known_.end()) {
            auto same = list(std::optional{known->second.number});
            if (!same.empty() && same.front().engine == known->second.engine) {
                chosen = std::move(same.front());
                return chosen;
            }
        }
        auto all = list(std::optional<int>{});
        if (!all.empty()) {
            std::optional<std::size_t> const best = fastest(std::as_const(all));
            chosen = std::move(all[best.value_or(0)]);
            if (best) {
                algorithm_choice const found{chosen->number, chosen->engine};
                remember(what, found);
            }
        }
        return chosen;
    }

private:
    // The content of the file, if there is one.
    std::optional<std::string> content() const {
        if (file_.empty() || !io::exists(file_)) {
            return std::nullopt;
        }
        try {
            auto const bytes = io::read_file(file_, detail::cache_file_bytes);
            return std::string{bytes.begin(), bytes.end()};
        } catch (file_error const&) {
            return "unreadable";
        }
    }

    void remember(std::string const& what, algorithm_choice const& choice) {
        known_.insert_or_assign(what, choice);
        auto const old = content();
        bool const is_cache = !old || old->empty() || old->starts_with(detail::cache_file_kind);
        if (file_.empty() || !is_cache) {
            return;
        }
        auto all = known_;
        all.merge(algorithm_choices_in(old.value_or(""))); // those of other processes
        try {
            io::atomic_file file{file_};
            file.write(text_of(all));
            file.commit();
        } catch (file_error const&) {
        }
    }

    std::string file_;
    algorithm_choices known_;
    std::atomic_flag busy_;
};

} // namespace castnet::cuda
