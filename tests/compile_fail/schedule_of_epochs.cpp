// A schedule is a function of the step and the number of steps, not of an epoch.
// expect: castnet: a schedule is a function of the step .from 0. and of the number of steps of a fit
#include <castnet/castnet.hpp>

namespace cn = castnet;

cn::schedule rate = [](int epoch) { return 0.1 / (epoch + 1); };
