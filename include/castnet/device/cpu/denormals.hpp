// Flushing of denormal numbers (below 1.2e-38 for float) to 0 during a step. Processors are a
// hundred times slower with them, and training makes many: an optimizer's moments decay towards 0
// where a relu has died.
#pragma once

#include <castnet/core/float_bits.hpp>
#include <castnet/core/target.hpp>

#include <limits>

namespace castnet::cpu::inline CASTNET_TARGET {

// While it lives, its thread flushes denormal numbers to 0, as PyTorch's set_flush_denormal does.
// Its destructor restores the thread's mode.
class flush_denormals {
public:
    flush_denormals() : switches_{!are_flushed()} {
        if (switches_) {
            before_ = mode();
            set(before_ | both);
        }
    }
    ~flush_denormals() {
        if (switches_) {
            set(before_);
        }
    }
    flush_denormals(flush_denormals const&) = delete;
    flush_denormals& operator=(flush_denormals const&) = delete;

private:
    using word = unsigned long;

#if defined(__SSE__)
    static constexpr word both = 0x8040; // of results, of operands
    static word mode() { return __builtin_ia32_stmxcsr(); }
    static void set(word mode) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
    static constexpr word both = 1 << 24;
    static word mode() {
        word mode;
        asm volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void set(word mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
    static constexpr word both = 0;
    static word mode() { return 0; }
    static void set(word) {}
#endif

    // Calculates to know: the mode can only be read when all calculations before have ended, and a
    // step of a small network begins while the one before ends.
    static bool are_flushed() {
        using bits = elementary::float_bits<float>;
        float const volatile least = std::numeric_limits<float>::denorm_min();
        float const volatile normal = std::numeric_limits<float>::min();
        return least == 0 && bits::of(normal / 2) == 0;
    }

    bool switches_;
    word before_ = 0;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
