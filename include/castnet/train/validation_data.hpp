// Type-erased validation data set.
#pragma once

#include <castnet/train/agreement.hpp>

#include <cstddef>
#include <memory>

namespace castnet {

template <class Training>
class validation_data;

namespace detail {

template <class Given>
struct validation_is { // a class, so that every compiler prints the type
    static constexpr bool checked = requires { typename Given::target_type; };
    static_assert(checked,
                  "castnet: the validation of a fit is a data set, such as the second part of "
                  "data.split(0.8); see validation_is<given>");
};
template <class Training>
struct validation_is<validation_data<Training>> {
    static constexpr bool checked = true;
};

} // namespace detail

// Holds a copy of the data set (that of castnet shares its columns), or none.
template <class Training>
class validation_data {
public:
    validation_data() = default;
    template <class Data, bool = detail::validation_is<Data>::checked>
    validation_data(Data const& data) {
        if constexpr (detail::validation_is<Data>::checked) {
            data_ = std::make_shared<Data const>(data);
            size_ = data.size();
            keep_ = [](Training& t, void const* d) { t.keep(*static_cast<Data const*>(d)); };
            evaluate_ = [](Training& t, void const* d) {
                return t.evaluate(*static_cast<Data const*>(d));
            };
            if constexpr (requires { requires Training::has_processes; }) {
                describe_ = [](detail::settings& s, char const* what, void const* d) {
                    detail::add_data(s, what, *static_cast<Data const*>(d));
                };
            }
        }
    }

    bool has_value() const { return data_ != nullptr; }
    std::size_t size() const { return size_; } // samples

    void keep(Training& t) const { keep_(t, data_.get()); }
    auto evaluate(Training& t) const { return evaluate_(t, data_.get()); }
    // For a training with other processes.
    void describe(detail::settings& s, char const* what) const { describe_(s, what, data_.get()); }

private:
    std::shared_ptr<void const> data_;
    std::size_t size_ = 0;
    void (*keep_)(Training&, void const*) = nullptr;
    typename Training::scores_type (*evaluate_)(Training&, void const*) = nullptr;
    void (*describe_)(detail::settings&, char const*, void const*) = nullptr;
};

} // namespace castnet
