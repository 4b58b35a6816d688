// Which algorithm of cuDNN or cuBLASLt is chosen.
#pragma once

#include <castnet/core/language.hpp>

namespace castnet::cuda {

// The first one of the library's list, which is the heuristic's guess; or the fastest on the
// current GPU of the first timed_algorithms.
enum class algorithm_order : bool { as_listed, by_time };

} // namespace castnet::cuda
