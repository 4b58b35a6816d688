// A part with its share of every class needs classes.
// expect: castnet: samples are chosen or weighed by their class
// expect: label_target<.*dataset
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

namespace cn = castnet;

cn::data::dataset<cn::shape<1>, cn::shape<2>> const prices{std::vector<float>(6),
                                                           std::vector<float>(3)};
auto const labels = cn::data::labels_of(prices);
auto const parts = cn::data::stratified_split(prices, 0.5);
