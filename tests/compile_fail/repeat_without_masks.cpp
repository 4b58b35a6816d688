// A block takes what repeat is called with.
// expect: castnet: repeat<N, block>.x, more...*: the block cannot be called with what comes after x, such as masks
// expect: repeated_block_takes<.*block_layer<.*symbol<.*shape<6, ?8> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct blocks {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::repeat<3, cn::block<cn::dense<8>, cn::relu>>(x, cn::length_mask(lengths));
    }
};
using net = cn::network<blocks{}, cn::input<6, 8>, cn::input_length<6>>;

auto count = net::parameter_count;
