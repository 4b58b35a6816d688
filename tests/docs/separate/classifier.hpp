// A network behind functions: who includes this compiles no network.
#pragma once

// [declaration]
#include <castnet/data/dataset.hpp>

#include <memory>

using points = castnet::data::dataset<castnet::data::label<3>, castnet::shape<4>>;

class classifier {
public:
    explicit classifier(std::uint64_t seed);
    ~classifier();

    void train(points const& data, int epochs);
    double accuracy(points const& data);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};
// [/declaration]
