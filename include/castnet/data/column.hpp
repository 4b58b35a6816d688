// Column of a data set: one input or target of all samples, stored as bytes, floats or doubles.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/shape.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::data {

namespace detail {

template <class Element>
inline constexpr bool column_takes = false; // supported types have their own constructors

} // namespace detail

class column {
public:
    column(std::vector<float> values) : floats_{std::move(values)} {}
    explicit column(std::span<float const> values) : floats_(values.begin(), values.end()) {}

    // Stored as doubles, which models of doubles read as they are. Throws castnet::error for a
    // finite number beyond the range of float, which models of floats could not read.
    [[gnu::noinline]] column(std::vector<double> values) : doubles_{std::move(values)} {
        for (size_t i = 0; i < doubles_.size(); ++i) {
            double const value = doubles_[i];
            if (castnet::detail::is_finite(value) &&
                std::abs(value) > double(std::numeric_limits<float>::max())) {
                throw error({"castnet: data::column: value ", i, " is ", value,
                             ", numbers must lie within the range of float"});
            }
        }
    }

    // Bytes with the values byte * scale + offset: an image in [0, 1] has the scale 1.0 / 255.
    // Throws castnet::error unless both are finite.
    column(std::vector<unsigned char> bytes, double scale = 1, double offset = 0)
        : bytes_{std::move(bytes)}, scale_{scale}, offset_{offset}, holds_bytes_{true} {
        if (!castnet::detail::is_finite(scale) || !castnet::detail::is_finite(offset)) {
            throw error({"castnet: data::column: found the scale ", scale, " and the offset ",
                         offset, ", expected finite numbers"});
        }
    }
    explicit column(std::span<unsigned char const> bytes, double scale = 1, double offset = 0)
        : column{std::vector<unsigned char>(bytes.begin(), bytes.end()), scale, offset} {}

    // Whole numbers, such as ids and class numbers; stored as floats. Throws castnet::error beyond
    // +-2^24, where a float is not exact.
    template <std::integral Element>
        requires(!std::is_same_v<Element, bool>)
    column(std::vector<Element> const& numbers) {
        floats_.reserve(numbers.size());
        for (Element const value : numbers) {
            if (std::abs(static_cast<double>(value)) > 1 << 24) {
                throw error({"castnet: data::column: value ", floats_.size(), " is ", value,
                             ", whole numbers must lie between -2^24 and 2^24"});
            }
            floats_.push_back(static_cast<float>(value));
        }
    }

    template <class Element>
    column(std::vector<Element> const&) {
        static_assert(detail::column_takes<Element>,
                      "castnet: a column of a data set takes a std::vector of float, double, "
                      "unsigned char (bytes) or another type of whole numbers; see "
                      "column_takes<found element>");
    }

    size_t size() const { return floats_.size() + doubles_.size() + bytes_.size(); }

    // The bytes, or nullptr if the column holds other numbers.
    unsigned char const* bytes() const { return holds_bytes_ ? bytes_.data() : nullptr; }
    // The value of such a byte.
    template <class T>
    T value_of(unsigned char byte) const {
        return static_cast<T>(byte) * static_cast<T>(scale_) + static_cast<T>(offset_);
    }

    // Writes values first .. first + count - 1, which must exist.
    template <class T>
    [[gnu::noinline]] void copy(size_t first, size_t count, T* out) const {
        if (holds_bytes_) {
            auto const* const in = bytes_.data() + first;
            for (size_t i = 0; i < count; ++i) {
                out[i] = value_of<T>(in[i]);
            }
        } else if (!doubles_.empty()) {
            std::transform(doubles_.data() + first, doubles_.data() + first + count, out,
                           [](double x) { return static_cast<T>(x); });
        } else {
            std::copy_n(floats_.data() + first, count, out);
        }
    }

private:
    std::vector<float> floats_; // of these three, only one holds numbers
    std::vector<double> doubles_;
    std::vector<unsigned char> bytes_;
    double scale_ = 1, offset_ = 0;
    bool holds_bytes_ = false;
};

} // namespace castnet::data
