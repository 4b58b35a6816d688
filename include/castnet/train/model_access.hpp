// Readers–writer guard of a model's parameters. It throws instead of waiting, unless told: after a
// wait the parameters would not be those that the caller meant.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/this_thread.hpp>

#include <atomic>
#include <cstdint>
#include <sched.h>

namespace castnet {

// Any number of threads share the parameters, or one thread has them exclusively. That thread may
// nest accesses of either kind: a callback of fit() may predict and set.
class model_access {
public:
    enum class conflict : unsigned char { refused, waited_for }; // with another thread

    // Both throw castnet::error that names `call` on a conflict, unless they wait.
    class shared {
    public:
        shared(model_access& of, char const* call) : of_{of.share(call) ? &of : nullptr} {}
        ~shared() {
            if (of_ != nullptr) {
                of_->state_.fetch_sub(one_reader, std::memory_order_release);
            }
        }
        shared(shared const&) = delete;
        shared& operator=(shared const&) = delete;

    private:
        model_access* of_; // none within an exclusive scope of this thread
    };
    class exclusive {
    public:
        exclusive(model_access& of, char const* call, conflict with_others = conflict::refused)
            : of_{of.claim(call, with_others) ? &of : nullptr} {}
        ~exclusive() {
            if (of_ != nullptr) {
                of_->call_.store(nullptr, std::memory_order_relaxed);
                of_->state_.store(0, std::memory_order_release);
            }
        }
        exclusive(exclusive const&) = delete;
        exclusive& operator=(exclusive const&) = delete;

    private:
        model_access* of_;
    };

    // The number of exclusive scopes so far, by which holders of what was computed of the
    // parameters notice changes; 0 within one, for the thread that has it.
    std::uint64_t version() const {
        return is_writer(state_.load(std::memory_order_relaxed))
                   ? 0
                   : version_.load(std::memory_order_relaxed);
    }

    // Whether averages stand in the place of the parameters: see averaged_weights, several of which
    // nest.
    void show_averages(bool there) {
        averages_shown_.fetch_add(there ? 1 : -1, std::memory_order_relaxed);
    }
    // Throws castnet::error where they do: `call` would go on from them, and their end undo it.
    void refuse_averages(char const* call) const {
        if (averages_shown_.load(std::memory_order_relaxed) > 0) {
            throw error({"castnet: ", call,
                         ": the model has the averages of its weights, as long as an "
                         "averaged_weights exists; end its block before"});
        }
    }

private:
    // Free (0), twice the number of readers, or the odd id of the writing thread.
    using word = std::uintptr_t;
    static constexpr word one_reader = 2;
    static bool is_writer(word state) { return (state & 1) != 0; }
    static word id_of_thread() { return reinterpret_cast<word>(this_thread()) | 1; }

    // Both return whether the end of the scope has something to undo.
    bool share(char const* call) {
        for (word now = state_.load(std::memory_order_relaxed);;) {
            if (is_writer(now)) {
                if (now == id_of_thread()) {
                    return false;
                }
                refuse(call, now);
            }
            if (state_.compare_exchange_weak(now, now + one_reader, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
    }
    bool claim(char const* call, conflict with_others) {
        word now = 0;
        while (!state_.compare_exchange_strong(now, id_of_thread(), std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
            if (now == id_of_thread()) {
                return false;
            }
            if (with_others == conflict::refused) {
                refuse(call, now);
            }
            ::sched_yield();
            now = 0;
        }
        call_.store(call, std::memory_order_relaxed);
        version_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }

    [[noreturn, gnu::cold]] void refuse(char const* call, word state) const {
        if (is_writer(state)) {
            char const* const other = call_.load(std::memory_order_relaxed);
            throw error({"castnet: ", call, ": another thread is in ",
                         (other != nullptr ? other : "a call"),
                         ", which has the model's parameters to itself; call this before or after, "
                         "or on a model of its own that loads the weights"});
        }
        word const readers = state / one_reader;
        throw error({"castnet: ", call, ": needs the model's parameters to itself, but ", readers,
                     (readers == 1 ? " call predicts with or reads them"
                                   : " calls predict with or read them"),
                     " in other threads, or as a stateful_predictor; call this when they have "
                     "ended, or on a model of its own"});
    }

    std::atomic<word> state_{0};
    std::atomic<char const*> call_{nullptr}; // of the thread that writes
    std::atomic<std::uint64_t> version_{1};
    std::atomic<int> averages_shown_{0};
};

} // namespace castnet
