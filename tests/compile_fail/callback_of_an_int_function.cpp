// The function of a callback takes a report.
// expect: castnet: cn::on_step_end takes a function of the report of a step
// expect: function_takes<.*epoch_report
#include <castnet/castnet.hpp>
#include <castnet/train/callbacks.hpp>

namespace cn = castnet;

cn::callback const each{cn::on_epoch_end{[](int) {}}};
