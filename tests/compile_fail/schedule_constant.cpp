// A constant learning rate is no schedule.
// expect: castnet: a schedule is a function .* a constant rate is the optimizer's learning_rate
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::schedule rate = 0.1;
