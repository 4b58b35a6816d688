// A model that needs more memory than its policy allows.
// expect: castnet: the model, or a training step of it, needs more memory than the policy's budget
// expect: fits_budget<[0-9]+(UL)?, 1000(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<64>, cn::dense<64>>;

cn::model<net, cn::policy::memory_limit<cn::policy::cpu, 1000>, cn::batch<8>> model;
