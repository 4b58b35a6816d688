// A gradient is clipped by its norm or by its elements.
// expect: castnet: clip_norm, clip_each_norm and clip_value: a gradient is clipped once, and this optimizer clips it already
// expect: clips_once<false, castnet::value_clipped<castnet::adam> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

auto const optimizer = cn::clip_norm(cn::clip_value(cn::adam{}, 0.5), 1);
