// Settings that all processes of a job must share, and their comparison.
//
// Steps are right only if all processes compute them from the same settings. Each call of a
// training (fit, step, evaluate) records its arguments, and the processes compare these first.
#pragma once

#include <castnet/core/digest.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/column.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/optim/schedules.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace castnet::detail {

[[gnu::noinline]] inline digest digest_of(std::span<std::size_t const> samples,
                                          std::span<float const> class_weights) {
    digest d;
    for (std::size_t number : samples) {
        d.take(number);
    }
    for (float weight : class_weights) {
        d.take(std::bit_cast<std::uint32_t>(weight));
    }
    return d;
}

[[gnu::noinline]] inline digest digest_of(std::span<unsigned char const> flags) {
    digest d;
    for (unsigned char flag : flags) {
        d.take(flag);
    }
    return d;
}

// Settings as text: a line of name and value for each; the first is the call.
class settings {
public:
    [[gnu::noinline]] explicit settings(char const* call) { add("call", call); }

    [[gnu::noinline]] void add(std::string_view name, text_piece value) {
        append(text_, {name, separator, value, '\n'});
    }
    [[gnu::noinline]] void add_exactly(std::string_view name, double value) {
        char digits[32]; // as few as round-trip
        char const* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        add(name, std::string_view{digits, end});
    }
    [[gnu::noinline]] void add(std::string_view name, digest const& d) {
        add(name, hexadecimal(d.value()));
    }

    std::string const& text() const { return text_; }

    // The first difference of two texts: the name, and both values.
    struct difference {
        std::string_view name, a, b;
    };
    [[gnu::noinline]] static difference first_difference(std::string_view a, std::string_view b) {
        for (;;) {
            std::string_view const left = line(a), right = line(b);
            if (left != right || (a.empty() && b.empty())) {
                return {left.substr(0, left.find(separator)), value(left), value(right)};
            }
        }
    }

private:
    static constexpr std::string_view separator = ": ";

    // Removes and returns the first line.
    static std::string_view line(std::string_view& text) {
        std::string_view const first = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(first.size() + 1, text.size()));
        return first;
    }
    static std::string_view value(std::string_view line) {
        std::size_t const end = line.find(separator);
        return end == line.npos ? "missing" : line.substr(end + separator.size());
    }

    std::string text_;
};

[[noreturn, gnu::cold]] inline void throw_difference(std::string_view first, int rank,
                                                     std::string_view other) {
    std::string_view const call = settings::first_difference(first, {}).a;
    auto const found = settings::first_difference(first, other);
    if (found.name == "call") {
        throw error({"castnet: rank 0 is in ", found.a, ", but rank ", rank, " is in ", found.b,
                     "; all processes must make the same calls"});
    }
    throw error({"castnet: ", call, ": '", found.name, "' is ", found.a, " on rank 0, but ",
                 found.b, " on rank ", rank,
                 "; all processes must run the same program on the same data"});
}

// Throws castnet::error with the difference on all replicas unless all have the same settings. If
// they do, each sends a few bytes only.
template <class Communicator>
[[gnu::noinline]] void require_same(Communicator& others, settings const& mine) {
    char const* const what = "comparison of what replicas do";
    std::string const& text = mine.text();
    digest d;
    for (char c : text) {
        d.take(static_cast<unsigned char>(c));
    }
    struct brief {
        std::uint64_t digest, length;
    };
    brief const own{d.value(), text.size()};
    std::vector<brief> all(static_cast<std::size_t>(others.size()));
    others.gather(std::as_bytes(std::span{&own, 1}), std::as_writable_bytes(std::span{all}),
                  {what});
    std::size_t longest = 0;
    bool same = true;
    for (brief const& b : all) {
        longest = std::max(longest, std::size_t(b.length));
        same = same && b.digest == own.digest && b.length == own.length;
    }
    if (same) {
        return;
    }
    std::vector<char> padded(longest), texts(longest * all.size());
    std::copy(text.begin(), text.end(), padded.begin());
    others.gather(std::as_bytes(std::span{padded}), std::as_writable_bytes(std::span{texts}),
                  {what});
    auto const of = [&](std::size_t rank) {
        return std::string_view{texts.data() + rank * longest, std::size_t(all[rank].length)};
    };
    for (std::size_t r = 1; r < all.size(); ++r) {
        if (of(r) != of(0)) {
            throw_difference(of(0), static_cast<int>(r), of(r));
        }
    }
}

// Values of a column per sample.
[[gnu::noinline]] inline void take_sample(digest& d, data::column const& c, std::size_t sample,
                                          std::size_t count) {
    std::vector<float> values(count);
    c.copy(sample * count, count, values.data());
    for (float x : values) {
        d.take(std::bit_cast<std::uint32_t>(x));
    }
}

// Records the size of a data set; of one in memory (data::dataset) also the values of at most 64
// samples between the first and the last. Others may be slow to read, or random.
template <class Data>
[[gnu::noinline]] void add_data(settings& s, std::string const& name, Data const& data) {
    s.add("samples of " + name, data.size());
    if constexpr (requires { data.template column_of<0>().size(); }) {
        digest d;
        std::size_t const looked_at = std::min(data.size(), std::size_t(64));
        for (std::size_t k = 0; k < looked_at; ++k) {
            std::size_t const sample = looked_at > 1 ? (data.size() - 1) * k / (looked_at - 1) : 0;
            std::size_t const at = data.number_in_columns(sample);
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                (take_sample(d, data.template column_of<I>(), at,
                             Data::template input_shape<I>::count),
                 ...);
            }(std::make_index_sequence<Data::input_count>{});
            [&]<class... Target, std::size_t... I>(data::targets<Target...>,
                                                   std::index_sequence<I...>) {
                (take_sample(d, data.template column_of<Data::input_count + I>(), at,
                             data::target_shape<Target>::count),
                 ...);
            }(data::targets_of<Data>{}, std::make_index_sequence<data::targets_of<Data>::count>{});
            d.take(std::bit_cast<std::uint32_t>(data.weight(sample)));
        }
        s.add("digest of " + name, d);
    }
}

// Records the optimizer's hyperparameters, if it lists them; otherwise its results for two
// parameters in the first steps.
template <class T, class Optimizer>
[[gnu::noinline]] void add_optimizer(settings& s, Optimizer const& o) {
    if constexpr (requires { o.hyperparameters(); }) {
        for (auto const& h : o.hyperparameters()) {
            s.add_exactly(string_of({"the optimizer's ", h.name}), double(h.value));
        }
    } else {
        for (double const gradient : {0.25, 1e-6}) {
            T parameter = T(0.5), state[Optimizer::slots + 1]{};
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                for (std::uint64_t step = 1; step < 4; ++step) {
                    o.template at<T>(step, o.learning_rate)(parameter, T(gradient * double(step)),
                                                            state[I]...);
                }
            }(std::make_index_sequence<std::size_t(Optimizer::slots)>{});
            s.add_exactly(string_of({"the optimizer's 0.5 after 3 gradients from ", gradient}),
                          double(parameter));
        }
    }
}

// Records the learning rates of at most 16 steps between the first and the last.
[[gnu::noinline]] inline void add_schedule(settings& s, schedule const& rate, std::uint64_t total) {
    s.add("a schedule", rate ? "set" : "not set");
    std::uint64_t const looked_at = rate ? std::min<std::uint64_t>(total, 16) : 0;
    for (std::uint64_t k = 0; k < looked_at; ++k) {
        std::uint64_t const step = looked_at > 1 ? (total - 1) * k / (looked_at - 1) : 0;
        s.add_exactly(string_of({"the schedule's rate of step ", step}), rate(step, total));
    }
}

[[gnu::noinline]] inline void add_scalars(settings& s,
                                          std::span<double const> of_loss_and_metrics) {
    for (std::size_t i = 0; i < of_loss_and_metrics.size(); ++i) {
        s.add_exactly(string_of({"scalar ", i, " of loss and metrics"}), of_loss_and_metrics[i]);
    }
}

[[gnu::noinline]] inline void add_class_weights(settings& s, std::span<float const> weights) {
    s.add("class weights", weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        s.add_exactly(string_of({"the weight of class ", i}), double(weights[i]));
    }
}

} // namespace castnet::detail
