// Callback of fit(): an object of any class that has some of the members that fit() calls.
#pragma once

#include <castnet/train/callback_members.hpp>
#include <castnet/train/callback_reports.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace castnet {

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

namespace detail {

// In place of a model, for callbacks that were given a file or a model alone.
template <class Given>
struct half_of_arguments;

} // namespace detail
} // namespace castnet
