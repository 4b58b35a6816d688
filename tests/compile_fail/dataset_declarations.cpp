// expect: castnet: a label needs at least one class
// expect: castnet: a label has at most 2\^24 classes
// expect: castnet: a dataset needs at least one input
#include <castnet/data/dataset.hpp>

using namespace castnet;

size_t none = data::label<0>::classes;
size_t many = data::label<(1 << 24) + 1>::classes;
size_t inputs = data::dataset<data::label<2>>::input_count;
