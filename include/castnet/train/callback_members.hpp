// Members of a callback that fit() calls, and the message for those that it would pass over.
#pragma once

#include <castnet/train/callback_reports.hpp>

#include <concepts>
#include <string>
#include <type_traits>

namespace castnet::detail {

template <class C>
concept ChecksFiles = requires(C& c, history const& h) { c.check_files(h); };
template <class C>
concept WritesFile = requires(C& c, history const& h) {
    { c.next_file(h) } -> std::convertible_to<std::string>;
};
template <class C>
concept BeginsFit = requires(C& c, history const& h) { c.begin_fit(h); };
template <class C>
concept EndsStep = requires(C& c, step_report& r) { c.end_step(r); };
template <class C>
concept EndsEpoch = requires(C& c, epoch_report& r) { c.end_epoch(r); };
template <class C>
concept EndsFit = requires(C& c, history const& h) { c.end_fit(h); };
template <class C>
concept LeavesFit = requires(C& c) { c.leave_fit(); };
template <class C>
concept ScalesRate = requires(C const& c, history const& h) {
    { c.rate_factor(h) } -> std::convertible_to<double>;
};

// The names of what fit() calls. A class that inherits a callback, too, finds a name twice where
// the callback has a member of that name, whatever its type.
struct callback_names {
    int check_files, next_file, begin_fit, end_step, end_epoch, end_fit, leave_fit, rate_factor;
};
template <class C>
struct with_callback_names : C, callback_names {};

template <class C>
concept FitCallsItsMembers =
    !(std::is_class_v<C> && !std::is_final_v<C>) ||
    ((ChecksFiles<C> || requires { &with_callback_names<C>::check_files; }) &&
     (WritesFile<C> || requires { &with_callback_names<C>::next_file; }) &&
     (BeginsFit<C> || requires { &with_callback_names<C>::begin_fit; }) &&
     (EndsStep<C> || requires { &with_callback_names<C>::end_step; }) &&
     (EndsEpoch<C> || requires { &with_callback_names<C>::end_epoch; }) &&
     (EndsFit<C> || requires { &with_callback_names<C>::end_fit; }) &&
     (LeavesFit<C> || requires { &with_callback_names<C>::leave_fit; }) &&
     (ScalesRate<C> || requires { &with_callback_names<C>::rate_factor; }));

// Member functions by the names of other libraries, or of moments at which fit() calls nothing.
template <class Member>
concept MemberFunction = std::is_member_function_pointer_v<Member>;
template <class C>
concept HasUncalledMember =
    requires(C& c, epoch_report& r) { c.begin_epoch(r); } ||
    requires(C& c, history const& h) { c.begin_epoch(h); } ||
    requires(C& c, step_report& r) { c.begin_step(r); } ||
    requires { requires MemberFunction<decltype(&C::on_epoch_begin)>; } ||
    requires { requires MemberFunction<decltype(&C::on_epoch_end)>; } ||
    requires { requires MemberFunction<decltype(&C::on_step_end)>; } ||
    requires { requires MemberFunction<decltype(&C::on_batch_begin)>; } ||
    requires { requires MemberFunction<decltype(&C::on_batch_end)>; } ||
    requires { requires MemberFunction<decltype(&C::on_train_batch_end)>; } ||
    requires { requires MemberFunction<decltype(&C::on_train_begin)>; } ||
    requires { requires MemberFunction<decltype(&C::on_train_end)>; };

template <class Given>
struct callback_is { // a class, so that every compiler prints the type
    static_assert(FitCallsItsMembers<Given>,
                  "castnet: a member of a callback has a name that fit calls, but not with what "
                  "the callback takes: begin_fit(history const&), end_step(step_report&), "
                  "end_epoch(epoch_report&), end_fit(history const&), double rate_factor(history "
                  "const&) const, check_files(history const&), std::string next_file(history "
                  "const&) and leave_fit(), all public; see callback_is<given>");
    static_assert(!HasUncalledMember<Given>,
                  "castnet: a callback has a member function that fit would pass over, "
                  "begin_epoch, begin_step or one called on_...; fit calls begin_fit(history "
                  "const&), end_step(step_report&), end_epoch(epoch_report&), end_fit(history "
                  "const&) and, before each epoch, double rate_factor(history const&) const; see "
                  "callback_is<given>");
    static_assert(BeginsFit<Given> || EndsStep<Given> || EndsEpoch<Given> || EndsFit<Given> ||
                      ScalesRate<Given> || !FitCallsItsMembers<Given> || HasUncalledMember<Given>,
                  "castnet: a callback of fit has at least one of begin_fit(history const&), "
                  "end_step(step_report&), end_epoch(epoch_report&), end_fit(history const&) and "
                  "double rate_factor(history const&) const; cn::on_epoch_end{f} and "
                  "cn::on_step_end{f} are callbacks of a function; see callback_is<given>");
    static constexpr bool checked = true;
};

} // namespace castnet::detail
