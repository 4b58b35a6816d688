// Parameters and running statistics of a network: what a file holds and an optimizer changes.
#pragma once

#include <castnet/core/list.hpp>
#include <castnet/graph/axes.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace castnet {

// How a parameter starts; fan_in and fan_out as in Keras and PyTorch.
enum class initial : unsigned char {
    zeros,
    ones,
    constant,       // value
    uniform,        // in [-value, value)
    normal,         // mean 0, standard deviation value
    glorot_uniform, // Glorot & Bengio 2010
    glorot_normal,
    he_uniform, // He et al. 2015
    he_normal,
    lecun_uniform, // LeCun et al. 1998
    lecun_normal,
    orthogonal,           // Saxe et al. 2014; value is the gain
    function,             // elements->number(i) for element i
    norms_of_rows,        // of the weight that was made before
    left_singular_vector, // of that weight as a matrix in which `value` neighbours have one row
    right_singular_vector
};

// (Not a pointer to a function: GCC 12 takes only those to variables in template arguments.)
struct element_function {
    double (*number)(std::size_t);
};

struct initializer {
    initial kind = initial::glorot_uniform;
    float value = 1;
    element_function const* elements = nullptr;
};

// value * sum|w| and value * sum w^2, added to what the optimizer minimises (Keras' l1 and l2).
struct penalty {
    float l1 = 0;
    float l2 = 0;

    friend constexpr bool operator==(penalty const&, penalty const&) = default;
};

// Role of a parameter in its operation; decides the order in memory. Weights lie as their product
// reads them, and only that may read them. All others lie as samples do, so that element-wise
// functions and reductions see both alike.
enum class role : unsigned char {
    vector,       // any shape: a bias, a scale, an embedding of positions
    dense_weight, // (units, features), for matmul()
    conv_weight,  // (filters, channels / groups, height, width), (…, depth, height, width) or
                  // (…, time), for convolve()
    statistic     // any shape; not trained
};

constexpr bool is_weight(role kind) {
    return kind == role::dense_weight || kind == role::conv_weight;
}

// The name of a parameter as the parts of its path, "3", "shortcut", "weight": cheap to build while
// compiling. text() joins them with dots.
struct path {
    struct part {
        char const* text = ""; // of static storage
        int number = -1;       // after the text: "dense_1"; alone where there is no text
    };
    static constexpr int max_depth = 12;
    part parts[max_depth]{};
    int depth = 0;

    constexpr void push(char const* text, int number = -1) {
        if (depth == max_depth) {
            throw "castnet: layers are nested deeper than 11 levels";
        }
        parts[depth++] = {text, number};
    }

    // The same so many positions further, if the part of this number is a position.
    constexpr path moved(int which, int positions) const {
        path other = *this;
        other.parts[which].number += parts[which].number < 0 ? 0 : positions;
        return other;
    }

    friend constexpr bool operator==(path const& a, path const& b) {
        if (a.depth != b.depth) {
            return false;
        }
        for (int i = a.depth - 1; i >= 0; --i) {
            if (a.parts[i].number != b.parts[i].number ||
                !same_text(a.parts[i].text, b.parts[i].text)) {
                return false;
            }
        }
        return true;
    }

    // A number that tells most paths apart.
    constexpr unsigned digest() const {
        unsigned hash = 0;
        for (int i = 0; i < depth; ++i) {
            hash = hash * 31U + static_cast<unsigned>(parts[i].number);
            for (char const* c = parts[i].text; *c != '\0'; ++c) {
                hash = hash * 31U + static_cast<unsigned char>(*c);
            }
        }
        return hash;
    }

    // Calls put(character) for every character of the name.
    template <class Put>
    constexpr void write(Put put) const {
        for (int i = 0; i < depth; ++i) {
            if (i > 0) {
                put('.');
            }
            for (char const* c = parts[i].text; *c != '\0'; ++c) {
                put(*c);
            }
            if (parts[i].number >= 0) {
                if (*parts[i].text != '\0') {
                    put('_');
                }
                write_number(parts[i].number, put);
            }
        }
    }
    [[gnu::noinline]] std::string text() const {
        std::string name;
        write([&](char c) __attribute__((noinline)) { name += c; });
        return name;
    }

private:
    static constexpr bool same_text(char const* a, char const* b) {
        // not their addresses, which compilers do not compare in constants
        return std::string_view{a} == std::string_view{b};
    }
    template <class Put>
    static constexpr void write_number(int number, Put put) {
        if (number >= 10) {
            write_number(number / 10, put);
        }
        put(static_cast<char>('0' + number % 10));
    }
};

struct parameter {
    path name;
    role kind{};
    bool trainable = true;
    bool is_table = false; // of which ids name rows (graph/op/rows.hpp)
    initializer start{};
    penalty cost{};
    ir::axes shape{};  // (units, features); (filters, channels / groups, height, width)
    int pixels = 1;    // dense weight: of the images whose flattened elements are its features
    int zero_row = -1; // that starts as 0; -1: none
    int node = -1;
    int repeat = -1; // the repeated block that has one in each repetition; -1: none

    constexpr int count() const { return shape.count(); }
};

// The number of the first of these parameters whose name another before it has; -1 if all differ.
template <class Parameter>
constexpr int repeated_name(Parameter const* parameters, int count) {
    constexpr unsigned buckets = 1021;
    ir::list<int> last = ir::list<int>::filled(buckets, -1); // parameter of each digest
    ir::list<int> others =
        ir::list<int>::filled(count, -1); // parameter of the same digest before it
    for (int i = 0; i < count; ++i) {
        int& bucket = last[static_cast<int>(parameters[i].name.digest() % buckets)];
        for (int k = bucket; k >= 0; k = others[k]) {
            if (parameters[k].name == parameters[i].name) {
                return i;
            }
        }
        others[i] = bucket;
        bucket = i;
    }
    return -1;
}

// The elements of a convolution's kernel.
constexpr std::ptrdiff_t taps_of(parameter const& p) {
    return p.count() / (std::ptrdiff_t{p.shape.extent[0]} * p.shape.extent[1]);
}

// Where these lie, from their logical number: those that differ in depth only, the channels of an
// unfolded volume, beside each other.
constexpr std::ptrdiff_t tap_in_memory(std::ptrdiff_t tap, parameter const& p) {
    if (p.shape.rank < 5) {
        return tap;
    }
    std::ptrdiff_t const depth = p.shape.extent[2], of_slice = taps_of(p) / depth;
    return tap % of_slice * depth + tap / of_slice;
}

// Where a dense weight has the row of this feature: of flattened images, channels lie innermost.
constexpr std::ptrdiff_t feature_in_memory(std::ptrdiff_t feature, parameter const& p) {
    std::ptrdiff_t const channels = p.shape.extent[1] / p.pixels;
    return feature % p.pixels * channels + feature / p.pixels;
}

// The output of a layer that has a position in a chain or a name.
struct layer_output {
    path name;
    int node;
};

// Where in the network the trace is: gives parameters their names, "3.weight" as in PyTorch's
// Sequential, and knows what is frozen or shared.
struct scope {
    path prefix;
    bool positioned = false; // the prefix already names the next layer
    int frozen = 0;          // depth of frozen<…> around
    int sharing = 0; // depth of shared<…> that was traced before: parameters are found again
    int next = 0;    // after the parameter that was found last: shared layers ask in one order
    int unnamed = 0; // layers named by a running number so far
    int asked = 0;   // how often a parameter was asked for
    ir::list<char const*> shared; // names of shared<…> so far
    bool lists_layers = false;    // for train/layer_output.hpp
    ir::list<layer_output> layers;

    // Remembers the output of the layer at the prefix.
    constexpr void list_layer(int node) {
        if (lists_layers) {
            layers.push({prefix, node});
        }
    }
};

} // namespace castnet
