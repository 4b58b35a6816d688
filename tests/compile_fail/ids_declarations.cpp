// expect: castnet: ids need at least one value
// expect: castnet: ids have at most 2\^24 values
#include <castnet/castnet.hpp>

using namespace castnet;

size_t none = ids<0, 3>::values;
size_t many = ids<(1 << 24) + 1>::values;
