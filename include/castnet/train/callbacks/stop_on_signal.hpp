// The orderly end of a fit on SIGINT or SIGTERM.
#pragma once

#include <castnet/train/callback.hpp>

#include <csignal>
#include <utility>

namespace castnet {

// Ends the fit in good order after the step in which SIGINT (Ctrl-C) or SIGTERM arrives: the
// checkpoint of fit() is written, and a later fit continues from there. A second signal ends the
// program as usual; after the fit, signals do what they did before it. For one fit at a time. A
// signal between steps, such as during validation, ends the fit after the next step; if there is
// none, all epochs are done, and stop_on_signal::arrived() tells that there was a signal.
class stop_on_signal {
public:
    stop_on_signal() = default;
    stop_on_signal(stop_on_signal const&) = delete;
    stop_on_signal(stop_on_signal&&) noexcept {} // before a fit
    stop_on_signal& operator=(stop_on_signal const&) = delete;
    ~stop_on_signal() { restore(); }

    // The last signal during the latest fit with this callback; 0: none.
    static int arrived() { return last_; }

    void begin_fit(history const&) {
        last_ = 0;
        struct sigaction handler{};
        handler.sa_handler = [](int which) { last_ = which; };
        handler.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
        ::sigaction(SIGINT, &handler, &interrupt_);
        ::sigaction(SIGTERM, &handler, &terminate_);
        installed_ = true;
    }
    void end_step(step_report& report) const { report.stop = report.stop || last_ != 0; }
    void end_fit(history const&) { restore(); }
    void leave_fit() noexcept { restore(); }

private:
    void restore() noexcept {
        if (std::exchange(installed_, false)) {
            ::sigaction(SIGINT, &interrupt_, nullptr);
            ::sigaction(SIGTERM, &terminate_, nullptr);
        }
    }

    static inline std::sig_atomic_t volatile last_ = 0;
    bool installed_ = false;
    struct sigaction interrupt_{}, terminate_{}; // as they were before
};

} // namespace castnet
