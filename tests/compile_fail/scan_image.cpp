// A scan goes through sequences.
// expect: castnet: scan needs a sequence .time, features. or .time.
// expect: is_sequence<.*shape<3, ?8, ?8>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct scans {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<3>{}, [](auto, auto h) { return h; }).outputs;
    }
};
using net = cn::network<scans{}, cn::input<3, 8, 8>>;

auto count = net::parameter_count;
