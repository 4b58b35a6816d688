// All parameters of a model as one list, and how far two lists are apart.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace check {

template <class T, class Model>
std::vector<T> everything(Model const& model) {
    std::vector<T> all;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const w = model.get(model.parameter_at(i).name.text());
        all.insert(all.end(), w.begin(), w.end());
    }
    return all;
}
template <class Model>
auto everything(Model const& model) {
    return everything<typename Model::value_type>(model);
}

// Very large for lists of different lengths and where a number is none.
template <class T>
double largest_difference(std::vector<T> const& a, std::vector<T> const& b) {
    double worst = a.size() == b.size() ? 0 : 1e300;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        double const d = std::fabs(double(a[i]) - double(b[i]));
        worst = d <= worst ? worst : d > worst ? d : 1e300;
    }
    return worst;
}

} // namespace check
