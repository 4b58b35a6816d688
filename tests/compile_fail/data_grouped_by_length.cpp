// expect: castnet: data::grouped_by_length<i>\(data, batch\): the data set has no input i
// expect: castnet: data::grouped_by_length<i>\(data, batch\): input i needs to be one number of each
#include <castnet/data.hpp>

using namespace castnet;

using sequences = data::dataset<shape<1>, shape<9, 2>, length_of<9>>;

auto by_no_input(sequences s) {
    return data::grouped_by_length<2>(s, 32);
}
auto by_the_sequence(sequences s) {
    return data::grouped_by_length<0>(s, 32);
}
