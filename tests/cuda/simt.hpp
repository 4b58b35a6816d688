// Runs the bodies of CUDA kernels on the host: the threads of a block are fibers that take turns at
// barriers. It finds what ordinary runs on a GPU hide: a barrier that some threads skip, shared
// memory that is read before it is written (it holds NaN), and results that depend on the order of
// threads (which changes from barrier to barrier).
#pragma once

#include <castnet/device/cuda/launch.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#ifndef __x86_64__
#include <ucontext.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace simt {

// What ThreadSanitizer has to know of a fiber: it keeps a stack of calls for each.
#ifdef __SANITIZE_THREAD__
class sanitized_fiber {
public:
    sanitized_fiber() = default;
    sanitized_fiber(sanitized_fiber&& from) noexcept
        : self_{std::exchange(from.self_, nullptr)}, outside_{from.outside_} {}
    ~sanitized_fiber() { end(); }

    void restart() {
        end();
        self_ = __tsan_create_fiber(0);
    }
    void enter() {
        outside_ = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(self_, 0);
    }
    void leave() { __tsan_switch_to_fiber(outside_, 0); }

private:
    void end() {
        if (self_ != nullptr) {
            __tsan_destroy_fiber(self_);
        }
    }
    void* self_ = nullptr;
    void* outside_ = nullptr;
};
#else
struct sanitized_fiber {
    void restart() {}
    void enter() {}
    void leave() {}
};
#endif

// A function on a stack of its own that can be left and entered again.
class fiber {
public:
    explicit fiber(void (*run)()) : run_{run}, stack_{new unsigned char[size]} {}

    void restart() {
        done = false;
        sanitized_.restart();
#ifdef __x86_64__
        auto top = reinterpret_cast<std::uintptr_t>(stack_.get() + size) / 16 * 16 - 8;
        auto* sp = reinterpret_cast<void**>(top);
        *--sp = reinterpret_cast<void*>(run_); // where the first entry returns to
        for (int i = 0; i < 6; ++i) {
            *--sp = nullptr; // the registers that a call preserves
        }
        sp_ = sp;
#else
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_.get();
        context_.uc_stack.ss_size = size;
        context_.uc_link = nullptr;
        makecontext(&context_, run_, 0);
#endif
    }

#ifdef __x86_64__
    void enter() {
        sanitized_.enter();
        change(&outside_, sp_);
    }
    void leave() {
        sanitized_.leave();
        change(&sp_, outside_);
    }
#else
    void enter() {
        sanitized_.enter();
        swapcontext(&outside_, &context_);
    }
    void leave() {
        sanitized_.leave();
        swapcontext(&context_, &outside_);
    }
#endif

    bool done = false;

private:
    static constexpr std::size_t size = 128 << 10;
    void (*run_)();
    std::unique_ptr<unsigned char[]> stack_;
    sanitized_fiber sanitized_;
#ifdef __x86_64__
    [[gnu::naked, gnu::noinline]] static void change(void**, void*) {
        asm volatile("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
                     "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
                     "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
    }
    void* sp_ = nullptr;
    void* outside_ = nullptr;
#else
    ucontext_t context_{}, outside_{};
#endif
};

// The block that runs now, and its present thread.
struct running {
    void (*call)(void const* body) = nullptr;
    void const* body = nullptr;
    castnet::cuda::grid grid;
    unsigned block = 0, thread = 0;
    bool last = false; // see is_last()
    std::vector<fiber> fibers;
    std::vector<double> shared;
};
inline thread_local running now;

// What a body is given.
struct block {
    static constexpr bool has_all_threads = true;

    unsigned thread() const { return now.thread; }
    unsigned threads() const { return now.grid.threads; }
    unsigned index() const { return now.block; }
    unsigned blocks() const { return now.grid.blocks; }
    void sync() const {
        if (now.grid.shared_bytes == 0) {
            std::fputs("simt: a barrier in a kernel without shared memory\n", stderr);
            std::abort();
        }
        now.fibers[now.thread].leave();
    }
    bool is_last(unsigned* ticket, unsigned count) const {
        sync();
        if (now.thread == 0) {
            now.last = ++*ticket == count;
            *ticket = now.last ? 0 : *ticket;
        }
        sync();
        return now.last;
    }
    template <class T>
    T* shared() const {
        return reinterpret_cast<T*>(now.shared.data());
    }
};

inline void run_thread() {
    now.call(now.body);
    now.fibers[now.thread].done = true;
    now.fibers[now.thread].leave();
}

inline void run_block() {
    unsigned const threads = now.grid.threads;
    while (now.fibers.size() < threads) {
        now.fibers.emplace_back(&run_thread);
    }
    for (unsigned i = 0; i < threads; ++i) {
        now.fibers[i].restart();
    }
    for (unsigned round = now.block, done = 0; done == 0; ++round) {
        for (unsigned i = 0; i < threads; ++i) {
            now.thread = round % 2 == 0 ? i : threads - 1 - i;
            now.fibers[now.thread].enter();
            done += now.fibers[now.thread].done;
        }
        if (done != 0 && done != threads) {
            std::fputs("simt: some threads of a block wait at a barrier that others skip\n",
                       stderr);
            std::abort();
        }
    }
}

// Whether CUDA would launch it, on a GPU of compute capability 9.0.
template <class Body>
bool can_launch(castnet::cuda::grid const& g) {
    constexpr std::size_t most_shared = std::size_t{227} << 10;
    return g.blocks > 0 && g.blocks < 1U << 31 && g.threads > 0 &&
           g.threads <= castnet::cuda::threads_of<Body> && g.shared_bytes <= most_shared;
}

// Without shared memory there are no barriers, and threads may run one after the other.
template <class Body>
void launch(castnet::cuda::grid const& g, Body const& body) {
    if (!can_launch<Body>(g)) {
        std::fputs("simt: CUDA would not launch this grid\n", stderr);
        std::abort();
    }
    now.call = [](void const* b) { (*static_cast<Body const*>(b))(block{}); };
    now.body = &body;
    now.grid = g;
    for (now.block = 0; now.block < g.blocks; ++now.block) {
        if (g.shared_bytes > 0) {
            now.shared.resize((g.shared_bytes + 7) / 8);
            std::memset(now.shared.data(), 0xff, 8 * now.shared.size());
            run_block();
        } else {
            for (now.thread = 0; now.thread < g.threads; ++now.thread) {
                now.call(now.body);
            }
        }
    }
}

} // namespace simt
