// expect: castnet: a label needs at least one class
// expect: castnet: a label has at most 2\^24 classes
// expect: castnet: a dataset needs at least one input
// expect: castnet: a column of a data set takes a std::vector of float, double, unsigned char .bytes. or another type of whole numbers
// expect: column_takes<long double>
#include <castnet/data/dataset.hpp>

using namespace castnet;

bool none = data::Target<data::label<0>>;
size_t many = data::dataset<data::label<5'000'000'000>, shape<1>>::input_count;
size_t inputs = data::dataset<data::label<2>>::input_count;
data::dataset<data::label<2>, shape<1>> of_long_doubles{std::vector<long double>{1},
                                                        std::vector<int>{1}};
