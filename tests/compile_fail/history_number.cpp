// Columns have names.
// expect: castnet: found a number, expected a name
#include <castnet/castnet.hpp>

double first_loss(castnet::history const& history) {
    return history[0][0];
}
