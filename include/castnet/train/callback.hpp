// Callback of fit(): what it is told and may ask for.
#pragma once

#include <castnet/train/history.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// Member of a class that is given by reference alone: what is set in a copy would be lost.
struct not_copied {
    not_copied() = default;
    not_copied(not_copied const&) = delete;
    not_copied& operator=(not_copied const&) = delete;
};

} // namespace detail

// After each step of fit(); set `stop` to end the training there, in one process or in all: the
// checkpoint of fit() is written, from which another fit goes on within the epoch.
struct step_report {
    int epoch;            // from 1
    std::uint64_t step;   // from 1, over all fits of the training
    std::size_t samples;  // of the step, in all processes
    double learning_rate; // of the step
    double seconds;       // since the step before, or since the epoch's begin, data included
    int rank = 0;         // of this process's first replica: 0 in one process
    bool stop = false;
    [[no_unique_address]] detail::not_copied by_reference{};
};

// After each epoch of fit(); set `stop` to end the training, in one process or in all.
struct epoch_report {
    int epoch;                       // from 1
    castnet::history const& history; // of all epochs so far, those before a restart too
    // Whether this epoch may have been reported before: the program ended between the epoch's
    // checkpoint and the next one.
    bool again = false;
    int rank = 0; // of this process's first replica: 0 in one process
    bool stop = false;
    [[no_unique_address]] detail::not_copied by_reference{};
};

namespace detail {

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

} // namespace detail

// An object with one or more of
//   void check_files(history const&)   throws where it could not write its files; rank 0 only
//   std::string next_file(history const&)   that it writes next; fit() makes sure, on rank 0, that
//                                      it can be written, and that nothing else of the fit writes
//                                      it
//   void begin_fit(history const&)     the epochs before a restart, or none
//   void end_step(step_report&)
//   void end_epoch(epoch_report&)
//   void end_fit(history const&)
//   void leave_fit() noexcept          where an exception ends the fit, wherever that is
//   double rate_factor(history const&) const
// The last one is asked before each epoch; the learning rate is multiplied by it. All are called on
// the thread of fit(), all but the first two in every process, and should decide by what they are
// given alone: then a resumed training goes on as if it had not been interrupted. Copies share the
// object.
class callback {
public:
    template <class C>
        requires(!std::same_as<std::remove_cvref_t<C>, callback>)
    callback(C object) : object_{std::make_shared<holder<C>>(std::move(object))} {
        static_assert(detail::callback_is<C>::checked);
    }

    void check_files(history const& h) const { object_->check_files(h); }
    std::optional<std::string> next_file(history const& h) const { return object_->next_file(h); }
    void begin_fit(history const& h) const { object_->begin_fit(h); }
    void end_step(step_report& r) const { object_->end_step(r); }
    void end_epoch(epoch_report& r) const { object_->end_epoch(r); }
    void end_fit(history const& h) const { object_->end_fit(h); }
    void leave_fit() const noexcept { object_->leave_fit(); }
    double rate_factor(history const& h) const { return object_->rate_factor(h); }
    bool sees_steps() const { return object_->sees_steps(); }

private:
    struct interface {
        virtual ~interface() = default;
        virtual void check_files(history const&) = 0;
        virtual std::optional<std::string> next_file(history const&) = 0;
        virtual void begin_fit(history const&) = 0;
        virtual void end_step(step_report&) = 0;
        virtual void end_epoch(epoch_report&) = 0;
        virtual void end_fit(history const&) = 0;
        virtual void leave_fit() noexcept = 0;
        virtual double rate_factor(history const&) const = 0;
        virtual bool sees_steps() const = 0;
    };

    template <class C>
    struct holder final : interface {
        explicit holder(C given) : object{std::move(given)} {}
        void check_files([[maybe_unused]] history const& h) override {
            if constexpr (detail::ChecksFiles<C>) {
                object.check_files(h);
            }
        }
        std::optional<std::string> next_file([[maybe_unused]] history const& h) override {
            if constexpr (detail::WritesFile<C>) {
                return object.next_file(h);
            }
            return {};
        }
        void begin_fit([[maybe_unused]] history const& h) override {
            if constexpr (detail::BeginsFit<C>) {
                object.begin_fit(h);
            }
        }
        void end_step([[maybe_unused]] step_report& r) override {
            if constexpr (detail::EndsStep<C>) {
                object.end_step(r);
            }
        }
        void end_epoch([[maybe_unused]] epoch_report& r) override {
            if constexpr (detail::EndsEpoch<C>) {
                object.end_epoch(r);
            }
        }
        void end_fit([[maybe_unused]] history const& h) override {
            if constexpr (detail::EndsFit<C>) {
                object.end_fit(h);
            }
        }
        void leave_fit() noexcept override {
            if constexpr (detail::LeavesFit<C>) {
                object.leave_fit();
            }
        }
        double rate_factor([[maybe_unused]] history const& h) const override {
            if constexpr (detail::ScalesRate<C>) {
                return object.rate_factor(h);
            }
            return 1;
        }
        bool sees_steps() const override { return detail::EndsStep<C>; }

        C object;
    };

    std::shared_ptr<interface> object_;
};

} // namespace castnet
