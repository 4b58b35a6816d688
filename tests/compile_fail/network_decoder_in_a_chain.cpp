// A decoder layer without the sequence that it attends to.
// expect: castnet: transformer_decoder_layer attends to another sequence, too
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 8>,
                           cn::transformer_decoder_layer<2, cn::transformer{.feed_forward = 16}>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
