// A callback has none of the members that fit calls.
// expect: castnet: a callback of fit has at least one of begin_fit
// expect: callback_is<.*logger
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct logger {
    void write(int) {}
};

cn::callback const each{logger{}};
