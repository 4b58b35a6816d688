// Check of the language standard: castnet needs C++20.
#pragma once

// Compilers continue after #error and report thousands of errors; a missing header is fatal.
#if __cplusplus < 202002L
#error castnet: this library needs C++20; compile with -std=c++20
#include <castnet: compile with -std=c++20>
#endif
