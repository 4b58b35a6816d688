// Flushing of denormal numbers (below 1.2e-38 for float) to 0 during a step. Processors are a
// hundred times slower with them, and training makes many: an optimizer's moments decay towards 0
// where a relu has died.
#pragma once

#include <castnet/core/target.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// While it lives, its thread flushes denormal numbers to 0, as PyTorch's set_flush_denormal does.
// Its destructor restores the thread's mode.
class flush_denormals {
public:
    flush_denormals() : before_{mode()} { change(before_, before_ | both); }
    ~flush_denormals() { change(before_ | both, before_); }
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

    static void change(word from, word to) {
        if (from != to) { // writing costs more than comparing
            set(to);
        }
    }

    word before_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
