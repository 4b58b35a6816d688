// Check of the language standard: castnet needs C++20.
#pragma once

// Compilers go on behind #error, and find thousands; a header that is not there ends them.
#if __cplusplus < 202002L
#error castnet: this library needs C++20; compile with -std=c++20
#include <castnet: compile with -std=c++20>
#endif
