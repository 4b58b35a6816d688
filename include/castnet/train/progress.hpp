// Progress bar of an epoch on standard output, in the style of Keras.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/text.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace castnet {

// silent; a bar that grows in place (where standard output is a terminal); one line per epoch.
enum class verbosity : unsigned char { silent, bar, lines };

// The verbosity of a fit.
struct verbose_option {
    constexpr verbose_option(verbosity v) : value{v} {}
    // Only for its message.
    template <class Other>
    constexpr verbose_option(Other) {
        static_assert(detail::never<Other>, "castnet: the option verbose of a fit is "
                                            "cn::verbosity::silent, lines or bar");
    }
    constexpr operator verbosity() const { return value; }

    verbosity value = verbosity::bar;
};

class progress {
public:
    progress(verbosity v, std::size_t steps) : verbosity_{v}, steps_{steps} {
#if __has_include(<unistd.h>)
        terminal_ = isatty(fileno(stdout)) != 0;
#endif
    }

    void begin(int epoch, int epochs) {
        start_ = shown_ = detail::monotonic_seconds();
        first_ = 0;
        if (verbosity_ != verbosity::silent) {
            std::printf("Epoch %d/%d\n", epoch, epochs);
        }
    }

    // After each step; asks scores() for those so far only where it shows them.
    template <class Scores>
    void step(std::size_t done, Scores const& scores) {
        double const now = detail::monotonic_seconds();
        if (first_ == 0) { // since begin(), which may be within an epoch
            first_ = done;
            after_first_ = now; // it warms up: its time does not count
        }
        if (verbosity_ == verbosity::bar && terminal_ && done < steps_ && now - shown_ >= 0.05) {
            shown_ = now;
            show(done, now, scores());
        }
    }

    // The epoch's last line; `rest` is validation's part.
    template <class Scores>
    [[gnu::noinline]] void end(Scores const& s, std::string const& rest) {
        if (verbosity_ == verbosity::silent) {
            return;
        }
        double const now = detail::monotonic_seconds();
        std::printf("%s%s %.0fs %s/step%s%s%s\n",
                    terminal_ && verbosity_ == verbosity::bar ? "\r" : "",
                    verbosity_ == verbosity::bar ? bar(steps_).c_str() : "-", now - start_,
                    time_text(per_step(steps_, now)).c_str(), means(s, "").c_str(), rest.c_str(),
                    terminal_ ? "\033[K" : "");
        std::fflush(stdout);
    }

    // " - loss: 0.1234 - accuracy: 0.9876"
    template <class Scores>
    [[gnu::noinline]] static std::string means(Scores const& s, char const* prefix) {
        std::string text;
        for (std::size_t i = 0; i < Scores::count; ++i) {
            double const v = s.result(i);
            auto const form = (v < 0 ? -v : v) > 1e-3 || v == 0 ? std::chars_format::fixed
                                                                : std::chars_format::scientific;
            append(text, {" - ", prefix, Scores::names[i], ": ", digits_of(v, 4, form)});
        }
        return text;
    }

private:
    template <class Scores>
    [[gnu::noinline]] void show(std::size_t done, double now, Scores const& s) const {
        double const left = per_step(done, now) * double(steps_ - done);
        std::printf("\r%s %.0fs%s\033[K", bar(done).c_str(), left, means(s, "").c_str());
        std::fflush(stdout);
    }
    double per_step(std::size_t done, double now) const {
        return done > first_ ? (now - after_first_) / double(done - first_) : now - start_;
    }
    [[gnu::noinline]] static std::string time_text(double seconds) {
        char text[32];
        if (seconds >= 1) {
            std::snprintf(text, sizeof text, "%.0fs", seconds);
        } else if (seconds >= 1e-3) {
            std::snprintf(text, sizeof text, "%.0fms", seconds * 1e3);
        } else {
            std::snprintf(text, sizeof text, "%.0fus", seconds * 1e6);
        }
        return text;
    }
    [[gnu::noinline]] std::string bar(std::size_t done) const {
        std::string const total = string_of({steps_}), count = string_of({done});
        std::string text(total.size() - count.size(), ' ');
        append(text, {count, '/', total, " ["});
        std::size_t const filled = steps_ > 0 ? 20 * done / steps_ : 20;
        for (std::size_t i = 0; i < 20; ++i) {
            text += i < filled ? '=' : i == filled ? '>' : '.';
        }
        text += ']';
        return text;
    }

    verbosity verbosity_;
    std::size_t steps_;
    std::size_t first_ = 0; // step since begin()
    bool terminal_ = false;
    double start_ = 0, shown_ = 0, after_first_ = 0; // seconds
};

} // namespace castnet
