// Functions as callbacks: on_step_end, on_epoch_end.
#pragma once

#include <castnet/train/callback.hpp>

#include <type_traits>

namespace castnet {

namespace detail {

template <class F, class Report>
struct callback_function_takes { // a class, so that every compiler prints the types
    static_assert(std::is_invocable_v<F&, Report&>,
                  "castnet: cn::on_step_end takes a function of the report of a step, "
                  "[](cn::step_report& report) { report.stop = true; }, and cn::on_epoch_end of a "
                  "cn::epoch_report&; see callback_function_takes<given, report>");
    static constexpr bool checked = true;
};

} // namespace detail

// A function of a step's or an epoch's report as a callback (Keras' LambdaCallback).
template <class F>
struct on_step_end {
    static_assert(detail::callback_function_takes<F, step_report>::checked);
    F f;
    void end_step(step_report& report) { f(report); }
};
template <class F>
struct on_epoch_end {
    static_assert(detail::callback_function_takes<F, epoch_report>::checked);
    F f;
    void end_epoch(epoch_report& report) { f(report); }
};

} // namespace castnet
