// A callback has a member that fit would call if it took what fit gives: it must not be passed
// over.
// expect: castnet: a member of a callback has a name that fit calls, but not with what the callback takes
// expect: callback_is<.*slower
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct slower {
    void end_epoch(cn::epoch_report&) {}
    double rate_factor() const { return 0.5; }
};

cn::callback const each{slower{}};
