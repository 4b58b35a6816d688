// Recurrent layers read sequences.
// expect: castnet: rnn, gru and lstm need a sequence .time, features.
// expect: recurrent_takes<.*shape<12>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<12>, cn::lstm<4>>;

auto count = net::parameter_count;
