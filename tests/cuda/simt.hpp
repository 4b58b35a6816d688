// Runs the bodies of CUDA kernels on the host: the threads of a block are fibers that take turns at
// barriers. It finds what ordinary runs on a GPU hide: a barrier that some threads skip, shared
// memory that is read before it is written (it holds NaN), and results that depend on the order of
// threads (which changes from barrier to barrier).
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/tensor_cores.hpp>
#include <castnet/device/cuda/warp.hpp>

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

// What a thread shows to the others of its warp.
struct shown {
    double number;
    castnet::bfloat16 const* row;
    castnet::cuda::matrix_fragment left;
    std::uint32_t right[2];
};

// The block that runs now, and its present thread.
struct running {
    void (*call)(void const* body) = nullptr;
    void const* body = nullptr;
    castnet::cuda::grid grid;
    unsigned block = 0, thread = 0;
    bool last = false; // see is_last()
    std::vector<fiber> fibers;
    std::vector<shown> show; // by thread
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

// What a warp does together (castnet/device/cuda/warp.hpp and tensor_cores.hpp), as the PTX ISA
// defines it.
// Here, all warps of a block do it at the same time.
template <class Show, class Use>
void exchange(block b, Show const& show, Use const& use) {
    show(now.show[now.thread]);
    b.sync();
    use(&now.show[now.thread / 32 * 32]);
    b.sync();
}
template <class T>
T from_lane(block b, T x, int bit) {
    exchange(
        b, [&](shown& s) { s.number = x; },
        [&](shown const* lane) { x = T(lane[now.thread % 32 ^ unsigned(bit)].number); });
    return x;
}
inline std::uint32_t ballot(block b, bool x) {
    std::uint32_t bits = 0;
    exchange(
        b, [&](shown& s) { s.number = x ? 1 : 0; },
        [&](shown const* lane) {
            for (unsigned i = 0; i < 32; ++i) {
                bits |= std::uint32_t{lane[i].number != 0} << i;
            }
        });
    return bits;
}
template <bool Transposed>
castnet::cuda::matrix_fragment load_matrices(block b, castnet::bfloat16 const* row) {
    castnet::cuda::matrix_fragment f{};
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
        std::fputs("simt: ldmatrix of rows that are not aligned\n", stderr);
        std::abort();
    }
    exchange(
        b, [&](shown& s) { s.row = row; },
        [&](shown const* lane) {
            unsigned const group = now.thread % 32 / 4, pair = now.thread % 4 * 2;
            for (unsigned m = 0; m < 4; ++m) {
                auto const at = [&](unsigned r, unsigned c) -> std::uint32_t {
                    return lane[8 * m + r].row[c].bits;
                };
                f.word[m] = Transposed ? at(pair, group) | at(pair + 1, group) << 16
                                       : at(group, pair) | at(group, pair + 1) << 16;
            }
        });
    return f;
}
inline void multiply_add(block b, float (&sum)[4], castnet::cuda::matrix_fragment const& left,
                         std::uint32_t right_top, std::uint32_t right_bottom) {
    auto const half = [](std::uint32_t word, unsigned which) {
        return __builtin_bit_cast(float, which == 0 ? word << 16 : word & 0xffff0000U);
    };
    exchange(
        b,
        [&](shown& s) {
            s.left = left;
            s.right[0] = right_top;
            s.right[1] = right_bottom;
        },
        [&](shown const* lane) {
            for (unsigned i = 0; i < 4; ++i) {
                unsigned const row = now.thread % 32 / 4 + i / 2 * 8,
                               column = now.thread % 4 * 2 + i % 2;
                for (unsigned k = 0; k < 16; ++k) {
                    std::uint32_t const a =
                        lane[row % 8 * 4 + k % 8 / 2].left.word[row / 8 + k / 8 * 2];
                    std::uint32_t const factor = lane[column * 4 + k % 8 / 2].right[k / 8];
                    sum[i] += half(a, k % 2) * half(factor, k % 2);
                }
            }
        });
}

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
    now.show.resize(threads);
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
