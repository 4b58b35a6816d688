// A data set of any type for the training to be evaluated on.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace castnet {

// Holds a copy of the data set (that of castnet shares its columns), or none.
template <class Training>
class validation_data {
public:
    validation_data() = default;
    template <class Data>
        requires(!std::is_same_v<Data, validation_data>)
    validation_data(Data const& data)
        : data_{std::make_shared<Data const>(data)}, size_{data.size()},
          keep_{[](Training& t, void const* d) { t.keep(*static_cast<Data const*>(d)); }},
          evaluate_{
              [](Training& t, void const* d) { return t.evaluate(*static_cast<Data const*>(d)); }} {
        static_assert(
            requires { typename Data::target_type; },
            "castnet: the validation of a fit is a data set, such as data::dataset");
    }

    bool has_value() const { return data_ != nullptr; }
    std::size_t size() const { return size_; } // samples

    void keep(Training& t) const { keep_(t, data_.get()); }
    auto evaluate(Training& t) const { return evaluate_(t, data_.get()); }

private:
    std::shared_ptr<void const> data_;
    std::size_t size_ = 0;
    void (*keep_)(Training&, void const*) = nullptr;
    typename Training::scores_type (*evaluate_)(Training&, void const*) = nullptr;
};

} // namespace castnet
