// TensorBoard event file: scalars, histograms, images and text over the steps of a training, its
// graph and its hyperparameters. Needs POSIX.
#pragma once

#include <castnet/core/clock.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/io/crc32.hpp>
#include <castnet/io/detail/make_folder.hpp>
#include <castnet/io/detail/shown.hpp>
#include <castnet/io/detail/utf8.hpp>
#include <castnet/io/file.hpp>
#include <castnet/io/protobuf.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ranges>
#include <span>
#include <vector>

namespace castnet::io {

// A node of a graph: its name, in which / divides groups, what it does, and the names of those that
// it reads.
struct event_graph_node {
    std::string name, operation;
    std::vector<std::string> reads{};
};

// A number of a run that does not change over its steps.
struct event_setting {
    std::string name;
    double value;
};

// Records of TensorFlow's Event messages (tensorflow/core/util/event.proto) in TFRecord framing. A
// new file is made in the folder, whose runs TensorBoard shows by the names of their folders.
// Records are written when they are added, each at once. All functions throw file_error where
// writing fails, also because the file has been removed, and for names and texts that are not
// UTF-8; the records before stay readable, and others may follow.
class event_file {
public:
    explicit event_file(std::string const& folder) {
        detail::check_name(folder);
        detail::make_folder(folder);
        char host[256] = "host";
        ::gethostname(host, sizeof host - 1);
        for (int number = 0; file_.fd < 0; ++number) {
            path_ = string_of({folder, "/events.out.tfevents.", static_cast<long>(now()), '.',
                               std::string_view{host}, '.', ::getpid(), '.', number});
            file_.fd = detail::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0666);
            if (file_.fd < 0 && errno != EEXIST) {
                detail::system_failure(path_, "cannot make the file");
            }
        }
        protobuf_message event;
        event.add_double(1, now());
        event.add_text(3, "brain.Event:2");
        write(event);
    }

    // Throws file_error where one cannot be made in this folder now; makes neither.
    static void check_folder(std::string const& folder) {
        detail::check_name(folder);
        std::string there = folder; // or the last folder on the way that there is
        struct stat found{};
        while (!there.empty() && ::stat(there.c_str(), &found) != 0) {
            size_t const cut = there.rfind('/');
            there.resize(cut == there.npos ? 0 : cut);
        }
        if (there.empty()) {
            there = folder.front() == '/' ? "/" : ".";
        }
        check_writable(there + "/events.out.tfevents");
    }

    std::string const& path() const { return path_; }

    void add_scalar(std::string_view tag, std::uint64_t step, double value) {
        protobuf_message entry;
        entry.add_text(1, valid(tag));
        entry.add_float(2, static_cast<float>(value));
        add_value(step, entry);
    }

    // Of numbers in a vector, array or span. 30 bins of equal width from the least to the greatest
    // value; numbers that are not finite are left out. Nothing is added where none is left.
    template <std::ranges::contiguous_range Values>
    void add_histogram(std::string_view tag, std::uint64_t step, Values const& values) {
        constexpr size_t bins = 30;
        double least = 0, greatest = 0, sum = 0, squares = 0, count = 0;
        for (auto const each : values) {
            auto const value = static_cast<double>(each);
            if (castnet::detail::is_finite(value)) {
                least = count == 0 ? value : std::min(least, value);
                greatest = count == 0 ? value : std::max(greatest, value);
                sum += value;
                squares += value * value;
                ++count;
            }
        }
        if (count == 0) {
            return;
        }
        // In halves, whose difference does not overflow.
        double const top = greatest > least ? greatest : least + 1, range = top / 2 - least / 2;
        std::vector<double> limits(bins), counts(bins);
        for (size_t i = 0; i < bins; ++i) {
            limits[i] = std::lerp(least, top, static_cast<double>(i + 1) / bins);
        }
        for (auto const each : values) {
            auto const value = static_cast<double>(each);
            if (castnet::detail::is_finite(value)) {
                double const share = range > 0 ? (value / 2 - least / 2) / range : 0;
                ++counts[std::min(static_cast<size_t>(share * bins), bins - 1)];
            }
        }
        protobuf_message histogram, entry;
        double const numbers[] = {least, greatest, count, sum, squares};
        for (unsigned i = 0; i < 5; ++i) {
            histogram.add_double(i + 1, numbers[i]);
        }
        histogram.add_doubles(6, limits);
        histogram.add_doubles(7, counts);
        entry.add_text(1, valid(tag));
        entry.add_message(5, histogram);
        add_value(step, entry);
    }

    // An image that is encoded as PNG or JPEG.
    void add_image(std::string_view tag, std::uint64_t step, size_t width, size_t height,
                   std::span<unsigned char const> encoded) {
        protobuf_message image, entry;
        image.add_integer(1, height);
        image.add_integer(2, width);
        image.add_integer(3, 3); // colours
        image.add_bytes(4, encoded);
        entry.add_text(1, valid(tag));
        entry.add_message(4, image);
        add_value(step, entry);
    }

    // Text in Markdown.
    void add_text(std::string_view tag, std::uint64_t step, std::string_view text) {
        protobuf_message plugin, metadata, tensor, entry;
        plugin.add_text(1, "text");
        metadata.add_message(1, plugin);
        tensor.add_integer(1, 7);  // DT_STRING
        tensor.add_message(2, {}); // of no dimension
        tensor.add_text(8, valid(text));
        entry.add_text(1, valid(tag));
        entry.add_message(9, metadata);
        entry.add_message(8, tensor);
        add_value(step, entry);
    }

    // The graph of the run, in any order of its nodes.
    void add_graph(std::span<event_graph_node const> nodes) {
        protobuf_message graph, versions, event;
        for (event_graph_node const& each : nodes) {
            protobuf_message node;
            node.add_text(1, valid(each.name));
            node.add_text(2, valid(each.operation));
            for (std::string const& read : each.reads) {
                node.add_text(3, valid(read));
            }
            graph.add_message(1, node);
        }
        versions.add_integer(1, 22); // of the format
        graph.add_message(4, versions);
        event.add_double(1, now());
        event.add_message(4, graph);
        write(event);
    }

    // The hyperparameters of the run, for TensorBoard's table of runs (plugin hparams).
    void add_hyperparameters(std::span<event_setting const> settings) {
        protobuf_message start, end;
        for (event_setting const& each : settings) {
            protobuf_message entry, value;
            value.add_double(2, each.value);
            entry.add_text(1, valid(each.name));
            entry.add_message(2, value);
            start.add_message(1, entry);
        }
        start.add_double(5, now());
        end.add_integer(1, 1); // success, since nobody tells it otherwise
        end.add_double(2, now());
        add_session("_hparams_/session_start_info", 3, start);
        add_session("_hparams_/session_end_info", 4, end);
    }

private:
    // TensorBoard reads nothing of a file from a text on that is not UTF-8.
    [[gnu::noinline]] std::string_view valid(std::string_view text) const {
        if (!detail::is_utf8(text)) {
            throw file_error(path_,
                             {"a name or text is ", detail::shown(text), ", expected UTF-8"});
        }
        return text;
    }

    void add_session(std::string_view tag, unsigned field, protobuf_message const& info) {
        protobuf_message content, plugin, metadata, tensor, entry;
        content.add_message(field, info);
        plugin.add_text(1, "hparams");
        plugin.add_message(2, content);
        metadata.add_message(1, plugin);
        tensor.add_integer(1, 2);  // DT_DOUBLE
        tensor.add_message(2, {}); // of no dimension
        tensor.add_doubles(6, std::array{0.0});
        entry.add_text(1, valid(tag));
        entry.add_message(9, metadata);
        entry.add_message(8, tensor);
        add_value(0, entry);
    }

    // Seconds since 1970.
    static double now() {
        auto const since = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration<double>(since).count();
    }

    void add_value(std::uint64_t step, protobuf_message const& entry) {
        protobuf_message summary, event;
        summary.add_message(1, entry);
        event.add_double(1, now());
        event.add_integer(2, step);
        event.add_message(5, summary);
        write(event);
    }

    // The length, its checksum, the event, its checksum.
    void write(protobuf_message const& event) {
        bytes record;
        append(record, std::uint64_t{event.content().size()});
        append(record, masked(record));
        record.insert(record.end(), event.content().begin(), event.content().end());
        append(record, masked(event.content()));
        auto const end = ::lseek(file_.fd, 0, SEEK_END);
        for (size_t done = 0; done < record.size();) {
            auto const written = ::write(file_.fd, record.data() + done, record.size() - done);
            if (written < 0 && errno != EINTR) {
                int const failure = errno;
                // A part of a record would hide all that follow.
                [[maybe_unused]] int const cut = ::ftruncate(file_.fd, end);
                errno = failure;
                detail::system_failure(path_, "cannot write the file");
            }
            done += written < 0 ? 0 : static_cast<size_t>(written);
        }
        struct stat status{};
        if (::fstat(file_.fd, &status) == 0 && status.st_nlink == 0) {
            throw file_error(path_,
                             "the file was removed while it is written, with the records so far");
        }
    }
    static std::uint32_t masked(std::span<unsigned char const> data) {
        std::uint32_t const crc = crc32c(data);
        return (crc >> 15 | crc << 17) + 0xA282EAD8U;
    }
    template <std::unsigned_integral T>
    static void append(bytes& to, T value) { // little endian
        for (size_t i = 0; i < sizeof(T); ++i) {
            to.push_back(static_cast<unsigned char>(value >> (8 * i)));
        }
    }

    detail::descriptor file_{-1};
    std::string path_;
};

} // namespace castnet::io
