// Data sets made of data sets in unusual orders, read step by step as fit() reads them: by one
// thread as they are, and by several with workers ahead.
#include <castnet/data.hpp>

#include <algorithm>
#include <cstdio>
#include <doctest/doctest.h>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace data = castnet::data;
using castnet::shape;

namespace {

using images = data::dataset<data::label<3>, shape<1, 4, 4>>;

images some_images(size_t count) {
    std::vector<float> pixels(count * 16), weights(count);
    std::vector<int> labels(count);
    for (size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = float(i * i % 89) / 89;
    }
    for (size_t i = 0; i < count; ++i) {
        labels[i] = int(i % 3);
        weights[i] = float(i % 5) / 2;
    }
    return images{std::move(pixels), std::move(labels)}.with_weights(weights);
}

auto stream_of(size_t count) {
    return data::stream<data::label<3>, shape<1, 4, 4>>(
        count,
        [] {
            return [i = 0](auto pixels, auto label) mutable {
                std::iota(pixels.begin(), pixels.end(), float(i * 16));
                label[0] = float(i++ % 3);
                return true;
            };
        },
        {.shuffle_buffer = 10});
}

// The numbers of an epoch's samples, in an order of its own; or of its first steps.
template <class Data>
std::vector<float> epoch_of(Data const& all, std::uint64_t number, size_t threads,
                            size_t steps = ~size_t{0}) {
    constexpr size_t rows = 8, numbers = 19;
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    data::random_stream random{1, 7, number};
    for (size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[random.below(i)]);
    }
    std::vector<float> found(order.size() * numbers);
    data::epoch_scope const scope{all, {.seed = 7, .number = number, .order = order, .rows = rows}};
    for (size_t step = 0; step < steps && step * rows < order.size(); ++step) {
        data::begin_step(all);
        size_t const end = std::min(order.size(), (step + 1) * rows);
        std::mutex failing;
        std::exception_ptr failure;
        std::vector<std::thread> readers;
        for (size_t t = 0; t < threads; ++t) {
            readers.emplace_back([&, t] {
                try {
                    for (size_t k = step * rows + t; k < end; k += threads) {
                        float* const to = found.data() + k * numbers;
                        all.template copy_input<0>(order[k], to);
                        data::copy_target<0>(all, order[k], to + 16);
                    }
                } catch (...) {
                    std::lock_guard const lock{failing};
                    failure = std::current_exception();
                }
            });
        }
        for (std::thread& reader : readers) {
            reader.join();
        }
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
    return found;
}

// The same samples in three epochs, as they are and with workers.
template <class Data, class Ahead>
void same(Data const& plain, Ahead const& ahead) {
    for (std::uint64_t number = 0; number < 3; ++number) {
        CHECK(epoch_of(ahead, number, 3) == epoch_of(plain, number, 1));
    }
}

} // namespace

TEST_CASE("pipelines of many kinds give the same samples with workers ahead") {
    auto const p = data::augment(some_images(61), data::random_flip{});
    auto const ahead = [](auto const& of, size_t samples = 0) {
        return data::prefetch(of, {.workers = 3, .ahead = samples});
    };
    auto const odd = data::take(
        data::filter(data::repeat(p, 3), [](auto const& s) { return s.label() != 1; }), 70);
    same(odd, ahead(odd));
    same(odd, ahead(odd, 1));
    same(odd, ahead(odd, 1'000'000));
    same(p, ahead(ahead(p)));
    auto const numbers = data::one_hot(p);
    same(data::mixup(numbers, 0.4), data::mixup(ahead(numbers, 3), 0.4));
    same(data::cutmix(numbers), ahead(data::cutmix(numbers)));
    auto const balanced = data::balanced_sample(p, 100);
    same(balanced, ahead(balanced));
    auto const rows = data::repeat(stream_of(30), 3);
    same(rows, ahead(rows));
    auto const part = data::skip(data::take(stream_of(50), 40), 7);
    same(part, ahead(part));
}

TEST_CASE("nothing is drawn from a data set without samples, or without weight") {
    CHECK_THROWS_WITH_AS(data::balanced_sample(some_images(3).take(0)),
                         "castnet: data::balanced_sample: the data set holds no sample",
                         castnet::error);
    CHECK_THROWS_WITH_AS(data::weighted_sample(some_images(3), std::vector<double>(3), 2),
                         "castnet: data::weighted_sample: the sum of the 3 weights is 0, expected "
                         "a finite one above 0",
                         castnet::error);
}

TEST_CASE("every sample of a fold keeps its weight") {
    auto const p = some_images(61);
    double all = 0, held = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        all += double(p.weight(i));
    }
    for (size_t fold = 0; fold < 5; ++fold) {
        auto const held_out = data::k_fold(p, 5, fold, 3).last;
        for (size_t i = 0; i < held_out.size(); ++i) {
            held += double(held_out.weight(i));
        }
    }
    CHECK(held == all);
}

TEST_CASE("a cached file that is cut off while it is read ends the epoch, and workers end") {
    std::string const file = std::filesystem::temp_directory_path() /
                             ("castnet_pipelines_" + std::to_string(::getpid()));
    {
        auto const p = data::prefetch(data::cache(some_images(61), {.file = file}), {.workers = 3});
        auto const before = epoch_of(p, 0, 3);
        std::filesystem::resize_file(file, 700);
        CHECK_THROWS_WITH_AS(epoch_of(p, 1, 3), doctest::Contains("the file ends here"),
                             castnet::file_error);
    }
    std::filesystem::remove(file);
}
