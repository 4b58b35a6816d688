// Numbers closer to 0 than the smallest normal one (1.2e-38 for float) are 0 in a step. Processors
// take a hundred times as long for them, and training makes many: the moments of an optimizer decay
// towards 0 where a relu has died.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::cpu {

// While it lives, its thread reads and writes such numbers as 0: PyTorch's set_flush_denormal. The
// thread's own mode returns with its end.
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
        if (from != to) { // to write it costs more than to compare
            set(to);
        }
    }

    word before_;
};

} // namespace castnet::cpu
