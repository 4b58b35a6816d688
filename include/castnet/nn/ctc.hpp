// Connectionist temporal classification (Graves et al. 2006): the loss of a sequence of predictions
// whose labels are fewer and have no places, ctc<Classes, Labels>.
//
// It is -log of the probability that the steps, each with a class or the blank, class 0, spell the
// labels once repeated classes are merged and blanks left out: PyTorch's CTCLoss with
// reduction="none", of logits, and Keras' CTC. Predictions are (time, Classes), labels up to Labels
// class numbers from 1 on, and data::ignored after the last one of the sample. The loss of any
// others is NaN, which fit() reports, and so is that of a length that is no number of steps.
#pragma once

#include <castnet/data/targets.hpp>
#include <castnet/graph/op/batch_matmul.hpp>
#include <castnet/nn/activations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/class_numbers.hpp>
#include <castnet/nn/logits.hpp>
#include <castnet/nn/loss.hpp>
#include <castnet/nn/scan.hpp>

#include <limits>

namespace castnet {

struct ctc_form {
    bool lengths = false;
    bool zero_infinity = false;
};

template <class S, size_t Classes>
inline constexpr bool ctc_takes = S::rank == 2 && channels_of<S> == Classes;

namespace detail {

inline constexpr double impossible =
    -1e30; // log of the probability of what cannot be; can be added up

// log(exp(a) + …)
template <class S, class... More>
constexpr symbol<S> log_add(symbol<S> a, More... more) {
    auto most = a;
    (..., (most = maximum(most, more)));
    return most + log((exp(a - most) + ... + exp(more - most)));
}

// Moved by one place: y[i - 1], where the first is `first`.
template <size_t Count>
constexpr auto moved(symbol<shape<Count>> y, double first) {
    return concat((y | slice_channels<0, 1>)*0 + first, y);
}

// Element `place`, a number for each sample, if it is there, else 0.
template <size_t Count, Symbol Place>
constexpr symbol<shape<>> element(symbol<shape<Count>> x, Place place) {
    return sum(where(equal(channel_index<shape<Count>>(*x.g), place), x, 0));
}

} // namespace detail

template <size_t Classes, size_t Labels, ctc_form Form = ctc_form{}>
struct ctc_loss {
    static constexpr char const* name = "ctc";
    static constexpr bool labels = true;
    using targets =
        std::conditional_t<Form.lengths, data::targets<data::label<Classes, Labels>, shape<>>,
                           data::targets<data::label<Classes, Labels>>>;
    static_assert(Classes > 1 && Labels > 0,
                  "castnet: ctc needs a class besides the blank, and at least one label");

    // With a second target: how many steps of each sample count, from 0 to all (PyTorch's
    // input_lengths).
    constexpr auto with_lengths() const {
        return ctc_loss<Classes, Labels, ctc_form{true, Form.zero_infinity}>{};
    }
    // The loss is 0 and not infinite where there are too few steps for the labels (PyTorch's
    // zero_infinity). Such samples have no gradient in either case.
    constexpr auto zero_infinity() const {
        return ctc_loss<Classes, Labels, ctc_form{Form.lengths, true}>{};
    }

    template <Shape S>
        requires(!Form.lengths)
    constexpr symbol<shape<>> operator()(symbol<S> logits,
                                         symbol<ids<Classes, Labels>> label) const {
        return of_steps(time_steps{logits}, label);
    }
    template <Shape S>
        requires(Form.lengths)
    constexpr symbol<shape<>> operator()(symbol<S> logits, symbol<ids<Classes, Labels>> label,
                                         symbol<shape<>> lengths) const {
        return of_steps(castnet::with_lengths(logits, lengths), label);
    }

private:
    // The places where a sample may be after a step: before, between and after its labels (on a
    // blank), and on each label.
    static constexpr size_t blanks = Labels + 1, places = blanks + Labels;

    template <Shape S>
    static constexpr symbol<shape<>> of_steps(time_steps<S> x,
                                              symbol<ids<Classes, Labels>> target) {
        static_assert(ctc_takes<S, Classes>,
                      "castnet: ctc<classes, labels> needs a sequence (time, classes); see "
                      "ctc_takes<shape found, classes>");
        if constexpr (!ctc_takes<S, Classes> || Labels == 0) { // reported
            return mean(x.values);
        } else {
            auto const label = reshaped(target, shape<Labels>{});
            auto const is_same = equal(label, detail::moved(label, 0) | slice_channels<0, Labels>);
            detail::takes_logits(x.values);
            time_steps<shape<S::extent[0], places>> const steps{of_places(x.values, label), false,
                                                                x.lengths};
            ir::graph& g = *x.values.g;
            auto const numbers = channel_index<shape<blanks>>(g);
            auto const begin = where(equal(numbers, 0), 0, numbers * 0 + detail::impossible);
            auto const nowhere = channel_index<shape<Labels>>(g) * 0 + detail::impossible;
            auto const end =
                scan(steps, begin, nowhere, [&](auto x_t, auto blank, auto on) {
                    auto const before = detail::moved(on, detail::impossible);
                    auto const skipped =
                        where(is_same, detail::impossible, before | slice_channels<0, Labels>);
                    return carry(detail::log_add(blank, before) + (x_t | slice_channels<0, blanks>),
                                 detail::log_add(on, blank | slice_channels<0, Labels>, skipped) +
                                     (x_t | slice_channels<blanks, Labels>));
                }).last;
            auto const count = sum(detail::counts(label));
            auto const on_last = where(equal(count, 0), detail::impossible,
                                       detail::element(std::get<1>(end), count - 1));
            auto const cost = -detail::log_add(detail::element(std::get<0>(end), count), on_last);
            constexpr double infinity = std::numeric_limits<double>::infinity();
            auto const possible = where(less(cost, -0.1 * detail::impossible), cost,
                                        Form.zero_infinity ? 0 : infinity);
            auto const place = channel_index<shape<Labels>>(g);
            auto const wrong = sum(detail::counts(label) * maximum(label == 0, place >= count));
            auto const right = [&] {
                if constexpr (Form.lengths) {
                    auto const n = x.lengths;
                    return (wrong == 0) * equal(floor(n), n) * (n >= 0) *
                           (n <= double(S::extent[0]));
                } else {
                    return wrong == 0;
                }
            }();
            return where(right, possible, std::numeric_limits<double>::quiet_NaN());
        }
    }

    // The logarithms of the probabilities that steps have the class of each place.
    template <Shape S>
    static constexpr auto of_places(symbol<S> logits, symbol<shape<Labels>> label) {
        using classes = shape<places, Classes>;
        auto const class_of_place = pad<0, blanks, 0>(label); // the blank is 0
        auto const is_class = equal(detail::channel_numbers<classes>(*logits.g),
                                    detail::beside<classes>(class_of_place));
        return matmul_transposed(log_softmax(logits), is_class);
    }
};
template <size_t Classes, size_t Labels>
inline constexpr ctc_loss<Classes, Labels> ctc{};

} // namespace castnet
