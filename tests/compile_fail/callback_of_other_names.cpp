// A member function that fit would pass over, beside one that it calls.
// expect: castnet: a callback has a member function that fit would pass over, begin_epoch, begin_step or one called on_
// expect: callback_is<.*(announcing|as_in_keras)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct announcing {
    void begin_epoch(cn::epoch_report&) {}
    void end_epoch(cn::epoch_report&) {}
};
struct as_in_keras {
    void on_train_begin() {}
    void end_epoch(cn::epoch_report&) {}
};
cn::callback const one = announcing{};
cn::callback const other = as_in_keras{};
