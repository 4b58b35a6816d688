// Parameters and running statistics of a network: what a file holds and an optimizer changes.
#pragma once

#include <cstddef>
#include <string_view>
#include <castnet/core/list.hpp>

namespace castnet {

// How a parameter starts; fan_in and fan_out as in Keras and PyTorch.
enum class initial : unsigned char {
    zeros,
    ones,
    constant,         // value
    uniform,          // in [-value, value)
    normal,           // mean 0, standard deviation value
    glorot_uniform,   // Glorot & Bengio 2010
    glorot_normal,
    he_uniform,       // He et al. 2015
    he_normal,
    lecun_uniform,    // LeCun et al. 1998
    lecun_normal,
    orthogonal        // Saxe et al. 2014; value is the gain
};

struct initializer {
    initial kind = initial::glorot_uniform;
    float value = 1;
};

// value * sum|w| and value * sum w^2, added to what the optimizer minimises (Keras' l1 and l2).
struct penalty {
    float l1 = 0;
    float l2 = 0;

    friend constexpr bool operator==(penalty const&, penalty const&) = default;
};

// What a parameter is to its operation; decides fan-in, fan-out and the order in memory.
enum class role : unsigned char { vector, dense_weight, conv_weight, statistic };

// A name of bounded length that can be built in constant expressions.
struct name_text {
    static constexpr std::size_t capacity = 96;
    char text[capacity]{};
    std::size_t length = 0;

    constexpr void append(std::string_view more) {
        if (length + more.size() >= capacity) {
            throw "castnet: the name of a parameter is longer than 95 characters";
        }
        for (char c : more) {
            text[length++] = c;
        }
    }
    constexpr void append(int number) {
        if (number >= 10) {
            append(number / 10);
        }
        char const digit[1] = {static_cast<char>('0' + number % 10)};
        append(std::string_view{digit, 1});
    }
    constexpr void truncate(std::size_t to) {
        while (length > to) {
            text[--length] = '\0';
        }
    }
    constexpr std::string_view view() const { return {text, length}; }

    // Equal names have equal hashes (FNV-1a): comparing hashes first keeps tracing cheap.
    constexpr unsigned hash() const {
        unsigned h = 2166136261U;
        for (std::size_t i = 0; i < length; ++i) {
            h = (h ^ static_cast<unsigned char>(text[i])) * 16777619U;
        }
        return h;
    }
};

struct parameter {
    name_text name;
    unsigned name_hash = 0;
    role kind{};
    bool trainable = true;
    initializer start{};
    penalty cost{};
    int rank = 0;
    int dims[4]{};     // logical: (out, in) or (filters, channels / groups, height, width)
    int groups = 1;
    int node = -1;

    constexpr int count() const {
        int n = 1;
        for (int i = 0; i < rank; ++i) {
            n *= dims[i];
        }
        return n;
    }
};

// Where in the network the trace is: gives parameters their names, "3.weight" as in PyTorch's
// Sequential, and knows what is frozen or shared.
struct scope {
    name_text prefix;
    bool positioned = false; // the prefix already names the next layer
    int frozen = 0;          // depth of frozen<…> around
    int sharing = 0;         // depth of shared<…> that was traced before: parameters are found again
    int unnamed = 0;         // layers named by a running number so far
    list<name_text> shared;
};

} // namespace castnet
