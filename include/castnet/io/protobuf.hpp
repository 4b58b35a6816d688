// Writer of protocol buffers: messages in their wire format.
#pragma once

#include <castnet/io/source.hpp>

#include <cstdint>
#include <string_view>

namespace castnet::io {

// Fields are appended in the order of the calls; a message within another one is a field of its
// bytes.
class protobuf_message {
public:
    bytes const& content() const { return content_; }

    void add_integer(unsigned field, std::uint64_t value) {
        add_key(field, 0);
        add_varint(value);
    }
    void add_double(unsigned field, double value) {
        add_key(field, 1);
        add_fixed(std::bit_cast<std::uint64_t>(value));
    }
    void add_float(unsigned field, float value) {
        add_key(field, 5);
        add_fixed(std::bit_cast<std::uint32_t>(value));
    }
    void add_text(unsigned field, std::string_view text) {
        add_bytes(field, {reinterpret_cast<unsigned char const*>(text.data()), text.size()});
    }
    void add_message(unsigned field, protobuf_message const& message) {
        add_bytes(field, message.content_);
    }
    // A packed repeated field.
    void add_doubles(unsigned field, std::span<double const> values) {
        add_key(field, 2);
        add_varint(values.size() * sizeof(double));
        for (double const value : values) {
            add_fixed(std::bit_cast<std::uint64_t>(value));
        }
    }
    void add_bytes(unsigned field, std::span<unsigned char const> value) {
        add_key(field, 2);
        add_varint(value.size());
        content_.insert(content_.end(), value.begin(), value.end());
    }

private:
    void add_key(unsigned field, unsigned type) { add_varint(field << 3 | type); }
    void add_varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            content_.push_back(static_cast<unsigned char>(value | 0x80));
        }
        content_.push_back(static_cast<unsigned char>(value));
    }
    template <std::unsigned_integral T>
    void add_fixed(T value) { // little endian
        for (size_t i = 0; i < sizeof(T); ++i) {
            content_.push_back(static_cast<unsigned char>(value >> (8 * i)));
        }
    }

    bytes content_;
};

} // namespace castnet::io
