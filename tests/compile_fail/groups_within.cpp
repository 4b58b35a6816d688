// Groups stand around what else changes an optimizer.
// expect: castnet: groups\(optimizer, ...\) must be the outermost wrapper of an optimizer
// expect: groups_are_outermost<.*grouped<
#include <castnet/castnet.hpp>

namespace cn = castnet;

auto const optimizer =
    cn::clip_norm(cn::groups(cn::adam{}, cn::parameter_group{.names = "*.bias", .decay = 0}), 1);
