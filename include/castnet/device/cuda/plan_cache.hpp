// Cache of the fastest of a library's plans: for the process, and from run to run in the file that
// the environment variable CASTNET_PLAN_CACHE names.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/core/turn.hpp>
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

struct plan_choice {
    int number = 0;          // its place in the list
    std::int64_t engine = 0; // what the library calls it: tells whether the list is the same

    friend bool operator==(plan_choice const&, plan_choice const&) = default;
};

// By a text that says what is computed and where; texts have one line.
using plan_choices = std::map<std::string, plan_choice>;

namespace detail {

inline constexpr std::string_view plan_file_kind = "castnet plans ",
                                  plan_file_title = "castnet plans 1\n";
inline constexpr std::size_t plan_file_bytes = std::size_t{1} << 20; // a larger file is no cache

// Takes a number and the space behind it off the line.
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

// As a file holds them: a title, and a line "number engine text" for each.
inline std::string text_of(plan_choices const& choices) {
    std::string text{detail::plan_file_title};
    for (auto const& [what, choice] : choices) {
        append(text, {choice.number, ' ', choice.engine, ' ', what, '\n'});
    }
    return text;
}

// Without lines that are damaged; nothing of a text with another title.
inline plan_choices plan_choices_in(std::string_view text) {
    plan_choices all;
    if (!text.starts_with(detail::plan_file_title)) {
        return all;
    }
    text.remove_prefix(detail::plan_file_title.size());
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        auto line = text.substr(0, end);
        plan_choice choice;
        if (detail::take_number(line, choice.number) && detail::take_number(line, choice.engine) &&
            choice.number >= 0 && !line.empty()) {
            all.insert_or_assign(std::string{line}, choice);
        }
        text.remove_prefix(end + 1);
    }
    return all;
}

// A file that cannot be read or written changes nothing but how often plans are timed; one that
// holds something else is left as it is.
class plan_cache {
public:
    explicit plan_cache(std::string file = "") : file_{std::move(file)} {
        known_ = plan_choices_in(content().value_or(""));
    }

    static plan_cache& of_process() {
        static plan_cache cache{[] {
            char const* const file = std::getenv("CASTNET_PLAN_CACHE");
            return std::string{file != nullptr ? file : ""};
        }()};
        return cache;
    }

    // The candidate that was the fastest, or is found to be so now. Those that ask for the same
    // get the same; one thread asks at a time.
    //
    //   list(n)          the candidates, of which each has `number` and `engine`: all (n empty), or
    //                    the one that has number n; may be empty, then so is the result
    //   fastest(all)     index of the fastest candidate; nothing if they cannot be compared now:
    //                    the result is the first one then, and is not remembered
    template <class List, class Fastest>
    auto choose(std::string const& what, List const& list, Fastest const& fastest) {
        turn const one_at_a_time{busy_};
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
                plan_choice const found{chosen->number, chosen->engine};
                remember(what, found);
            }
        }
        return chosen;
    }

private:
    // Of the file, if there is one.
    std::optional<std::string> content() const {
        if (file_.empty() || !io::exists(file_)) {
            return std::nullopt;
        }
        try {
            auto const bytes = io::read_file(file_, detail::plan_file_bytes);
            return std::string{bytes.begin(), bytes.end()};
        } catch (file_error const&) {
            return "unreadable";
        }
    }

    void remember(std::string const& what, plan_choice const& choice) {
        known_.insert_or_assign(what, choice);
        auto const old = content();
        bool const is_cache = !old || old->empty() || old->starts_with(detail::plan_file_kind);
        if (file_.empty() || !is_cache) {
            return;
        }
        auto all = known_;
        all.merge(plan_choices_in(old.value_or(""))); // what other processes found
        try {
            io::atomic_file file{file_};
            file.write(text_of(all));
            file.commit();
        } catch (file_error const&) {
        }
    }

    std::string file_;
    plan_choices known_;
    std::atomic_flag busy_;
};

} // namespace castnet::cuda
