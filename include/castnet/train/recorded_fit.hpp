// Position and history of a fit, and frozen parameters, in the metadata of a checkpoint.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/shown.hpp>
#include <castnet/train/history.hpp>
#include <castnet/train/parameter_groups.hpp>
#include <castnet/train/training_record.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace castnet::detail {

template <class Training>
[[gnu::noinline]] void record_fit(Training const& t, training_record& record) {
    auto const position = t.position();
    record.put("steps", t.steps());
    record.put("epochs", t.epochs());
    record.put("fit.epochs", position.epochs);
    record.put("fit.samples", position.samples);
    record.put("fit.data_size", position.data_size);
    record.put("fit.shuffled", std::uint64_t{position.shuffled});
    record.put("fit.weight", position.sums.weight);
    record.put("fit.sums", std::span<double const>{position.sums.sum});
    record.put("fit.seconds", position.seconds);
    record.put("fit.rate", position.rate);
    record.put("fit.callback_pending", std::uint64_t{position.callback_pending});
    record.put("fit.stopped", std::uint64_t{position.stopped});
    history const& h = t.fit_history();
    record.put("history.columns", h.names().size());
    for (size_t i = 0; i < h.names().size(); ++i) {
        record.put(string_of({"history.", i, ".name"}), h.names()[i].c_str());
        record.put(string_of({"history.", i}), std::span<double const>{h[h.names()[i]]});
    }
}

// How far the fit had come.
template <class Position>
[[gnu::noinline]] Position position_in(training_record const& record, std::string const& file) {
    constexpr std::uint64_t most = std::uint64_t{1} << 53; // exact as a double
    Position p;
    p.epochs = record.count("fit.epochs", std::numeric_limits<int>::max());
    p.samples = record.count("fit.samples", most);
    p.data_size = record.count("fit.data_size", most);
    p.shuffled = record.flag("fit.shuffled");
    p.sums.weight = record.not_negative("fit.weight");
    auto const sums = record.numbers("fit.sums", p.sums.sums);
    std::copy(sums.begin(), sums.end(), p.sums.sum);
    p.seconds = record.not_negative("fit.seconds");
    p.rate = record.not_negative("fit.rate");
    p.callback_pending = record.flag("fit.callback_pending");
    p.stopped = record.flag("fit.stopped");
    if (p.samples > p.data_size || (p.samples == 0 && p.sums.weight > 0)) {
        throw file_error(file, {"its metadata has a place in an epoch that cannot be: ", p.samples,
                                " of ", p.data_size, " samples, of the weight ", p.sums.weight});
    }
    if (p.epochs == 0 && (p.callback_pending || p.stopped)) {
        throw file_error(file, "its metadata has callbacks of an epoch, but no epoch that ended");
    }
    return p;
}

// Throws file_error unless each column has as many numbers as there are epochs.
[[gnu::noinline]] inline history history_in(training_record const& record, size_t epochs,
                                            std::string const& file) {
    size_t const columns = record.count("history.columns", 1000);
    if (columns == 0 && epochs > 0) {
        throw file_error(file, {"its metadata has ", quantity(epochs, "epoch"),
                                ", but a history without columns"});
    }
    std::vector<std::string> names;
    std::vector<double> all; // column after column: only they show that there are so many epochs
    for (size_t i = 0; i < columns; ++i) {
        names.push_back(record.text(string_of({"history.", i, ".name"})));
        for (double const x : record.numbers(string_of({"history.", i}), epochs)) {
            all.push_back(x);
        }
    }
    std::vector<double> rows(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        rows[i % epochs * columns + i / epochs] = all[i];
    }
    return history{std::move(names), std::move(rows)};
}

[[gnu::noinline]] inline void record_frozen(std::vector<std::string> const& frozen,
                                            training_record& record) {
    std::string names; // one a line
    for (std::string const& name : frozen) {
        append(names, {name, "\n"});
    }
    if (!names.empty()) {
        record.put("frozen", names.c_str());
    }
}

// A flag for each parameter of the plan, those that were frozen when the checkpoint was written.
template <class Plan>
[[gnu::noinline]] frozen_flags frozen_in(training_record const& record, Plan const& plan,
                                         std::string const& file) {
    frozen_flags flags(std::size(plan.parameters));
    if (!record.has("frozen")) {
        return flags;
    }
    std::string_view rest = record.text("frozen");
    while (!rest.empty()) {
        std::string_view const name = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        auto const found =
            std::find_if(std::begin(plan.parameters), std::end(plan.parameters),
                         [&](auto const& p) { return p.trainable && p.name.text() == name; });
        if (found == std::end(plan.parameters)) {
            throw file_error(file, {"its metadata has the frozen parameter ",
                                    io::detail::shown(std::string{name}),
                                    ", which this network does not train"});
        }
        flags[size_t(found - std::begin(plan.parameters))] = 1;
    }
    return flags;
}

} // namespace castnet::detail
