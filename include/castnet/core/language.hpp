// Checks of the language: castnet needs C++20 and exceptions.
#pragma once

// Compilers continue after #error and report thousands of errors; a missing header is fatal.
#if __cplusplus < 202002L
#error castnet: this library needs C++20; compile with -std=c++20
#include <castnet: compile with -std=c++20>
#endif

#if defined(__GNUC__) && !defined(__cpp_exceptions)
#error castnet: this library reports by exceptions; compile without -fno-exceptions
#include <castnet: compile without -fno-exceptions>
#endif
