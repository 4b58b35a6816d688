// Golden values (tests/data/README.md), and the comparison with them.
#pragma once

#include <castnet/io/safetensors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

namespace check {

using values = std::vector<double>;

// The folder of the tests' data; of programs that were built elsewhere, the environment says which.
inline std::string data_folder() {
    char const* const told = std::getenv("CASTNET_TEST_DATA");
    return told != nullptr ? told : CASTNET_TEST_DATA;
}

// The tensors of one file of golden values, as double whatever their type.
class golden_file {
public:
    explicit golden_file(std::string const& name)
        : file_{castnet::io::load_safetensors(data_folder() + "/" + name + ".safetensors")} {}

    bool has(std::string const& name) const { return file_.find(name) != nullptr; }

    values operator[](std::string const& name) const {
        auto const& tensor = file_.at(name);
        switch (tensor.type) {
        case castnet::io::dtype::f64:
            return as<double>(tensor);
        case castnet::io::dtype::f32:
            return as<float>(tensor);
        case castnet::io::dtype::i64:
            return as<long long>(tensor);
        default:
            FAIL("tensor of an unexpected type: " << name);
            return {};
        }
    }

    // The names that begin with `prefix`, without it.
    std::vector<std::string> names(std::string const& prefix) const {
        std::vector<std::string> found;
        for (auto const& tensor : file_.entries()) {
            if (tensor.name.starts_with(prefix)) {
                found.push_back(tensor.name.substr(prefix.size()));
            }
        }
        return found;
    }

private:
    template <class T>
    static values as(castnet::io::stored_tensor const& tensor) {
        std::vector<T> typed(tensor.bytes.size() / sizeof(T));
        std::memcpy(typed.data(), tensor.bytes.data(), typed.size() * sizeof(T));
        return values(typed.begin(), typed.end());
    }

    castnet::io::safetensors_file file_;
};

// The largest of |a - b| / (1 + |b|); infinite where one is no number or the counts differ.
inline double difference(values const& found, values const& expected) {
    double worst = found.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
        double const d = std::fabs(found[i] - expected[i]) / (1 + std::fabs(expected[i]));
        worst = d <= worst ? worst : std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    return worst;
}

inline void close(std::string const& what, values const& found, values const& expected,
                  double tolerance) {
    INFO(what << ": " << found.size() << " values, expected " << expected.size());
    CHECK(!expected.empty());
    CHECK(difference(found, expected) <= tolerance);
}

} // namespace check
