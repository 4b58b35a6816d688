// Weights that make up for the numbers of classes need classes.
// expect: castnet: data::balanced_class_weight needs one target that has classes
// expect: has_classes<.*dataset
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

namespace cn = castnet;

cn::data::dataset<cn::shape<2>, cn::shape<2>> const places{std::vector<float>(6),
                                                           std::vector<float>(6)};
auto const weights = cn::data::balanced_class_weight(places);
