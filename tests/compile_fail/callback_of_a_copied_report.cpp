// A copy of a report cannot stop the fit.
// expect: castnet: a member of a callback has a name that fit calls, but not with what the callback takes
// expect: callback_is<.*budget
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct budget {
    void end_step(cn::step_report report) { report.stop = report.step > 9; }
};

cn::callback const each{budget{}};
