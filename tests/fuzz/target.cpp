// A program for libFuzzer: CASTNET_FUZZ names the target; see run.sh.
#ifdef CASTNET_FUZZ_CHECKPOINT
#include "checkpoint.hpp"
#elif defined(CASTNET_FUZZ_IMAGE)
#include "image.hpp"
#else
#include "readers.hpp"
#endif

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    castnet::fuzz::CASTNET_FUZZ({data, size});
    return 0;
}
