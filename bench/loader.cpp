// Images per second from JPEG files: libjpeg's bare decoding, decoding to a part and resizing, a
// large photograph with and without a draft, and a training's input (random part of 224 x 224,
// flip, normalisation, batches of 64) with 1 and 2 workers. The files, 256 of 640 x 427 pixels and
// about 30 KB, are made in the folder that CASTNET_BENCH_IMAGES names, or in castnet-bench-images
// here; peers/torch_loader.py reads them.
#include <castnet/castnet.hpp>
#include <castnet/image.hpp>

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace cn = castnet;

constexpr std::size_t files = 256, rows = 64;

// Something between a photograph and noise, of which JPEG makes as much as of photographs.
cn::image::bitmap picture(std::uint64_t number, std::size_t width = 640, std::size_t height = 427) {
    cn::image::bitmap image{width, height, 3};
    cn::data::random_stream random{1, 2, number};
    double waves[8][4];
    for (auto& wave : waves) {
        for (double& x : wave) {
            x = random.uniform();
        }
    }
    for (std::size_t y = 0; y < image.height; ++y) {
        for (std::size_t x = 0; x < image.width; ++x) {
            double light = 0;
            for (std::size_t k = 0; k < 8; ++k) {
                double const fineness = 0.01 * double(1U << k % 5);
                light += std::sin(fineness * (waves[k][0] * double(x) + waves[k][1] * double(y)) +
                                  6 * waves[k][2]) *
                         waves[k][3];
            }
            for (std::size_t c = 0; c < 3; ++c) {
                double const grain = 24 * (random.uniform() - 0.5);
                double const tint = 12 * std::sin(0.01 * double(x * c));
                double const value = 128 + 28 * light + tint + grain;
                image.row(y)[3 * x + c] = static_cast<unsigned char>(std::clamp(value, 0.0, 255.0));
            }
        }
    }
    return image;
}

std::string folder() {
    char const* const named = std::getenv("CASTNET_BENCH_IMAGES");
    static std::string const root = named != nullptr ? named : "castnet-bench-images";
    static bool const made = [] {
        for (std::size_t i = 0; i < files; ++i) {
            std::string const here = root + (i % 2 == 0 ? "/even" : "/odd");
            std::filesystem::create_directories(here);
            std::string const file = here + '/' + std::to_string(i) + ".jpg";
            if (!std::filesystem::exists(file)) {
                cn::image::write(file, picture(i), 75);
            }
        }
        return true;
    }();
    (void)made;
    return root;
}

using images = cn::image::folder<2, cn::shape<3, 224, 224>>;

std::vector<cn::io::bytes> contents() {
    images const all{folder()};
    std::vector<cn::io::bytes> read;
    for (std::size_t i = 0; i < all.size(); ++i) {
        read.push_back(cn::io::read_file(all.file(i)));
    }
    return read;
}

// libjpeg alone, into memory that is there.
void bare_decoding(benchmark::State& state) {
    auto const read = contents();
    cn::image::bytes pixels(640 * 427 * 3);
    std::size_t i = 0;
    for (auto _ : state) {
        cn::image::detail::jpeg_reader jpeg{read[i++ % read.size()]};
        benchmark::DoNotOptimize(jpeg.begin(3) && jpeg.read(pixels.data()));
    }
    state.SetItemsProcessed(state.iterations());
}

void resizing(benchmark::State& state) {
    auto const image = picture(0);
    for (auto _ : state) {
        benchmark::DoNotOptimize(cn::image::resize(image, 224, 224).pixels.data());
    }
    state.SetItemsProcessed(state.iterations());
}

void decoding_and_resizing(benchmark::State& state) {
    images const all{folder()};
    std::vector<float> numbers(3 * 224 * 224);
    std::size_t i = 0;
    for (auto _ : state) {
        all.copy_input(i++ % all.size(), numbers.data());
        benchmark::DoNotOptimize(numbers.data());
    }
    state.SetItemsProcessed(state.iterations());
}

// A photograph of 2048 x 1536 pixels as one of 224 x 224, decoded as it is or as a draft.
void large_photograph(benchmark::State& state) {
    auto const content = cn::image::encode_jpeg(picture(0, 2048, 1536), 75);
    cn::image::draft const to =
        state.range(0) != 0 ? cn::image::draft{224, 224} : cn::image::draft{};
    for (auto _ : state) {
        auto const image = cn::image::decode(content, 3, "photograph", to);
        benchmark::DoNotOptimize(cn::image::resize(image, 224, 224).pixels.data());
    }
    state.SetItemsProcessed(state.iterations());
}

void training_input(benchmark::State& state) {
    auto const data = cn::data::prefetch(
        cn::data::augment(images{folder(), {.crop = cn::data::random_resized_crop{}}},
                          cn::data::random_flip{},
                          cn::data::standardize{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}),
        {.workers = static_cast<unsigned>(state.range(0))});
    std::vector<float> batch(rows * 3 * 224 * 224);
    std::vector<std::size_t> order(data.size());
    std::uint64_t epoch = 0;
    auto const read_all = [&] {
        cn::data::shuffle(order, 0, epoch);
        data.begin_epoch({.seed = 0, .number = epoch++, .order = order, .rows = rows});
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % rows == 0) {
                data.begin_step();
            }
            data.copy_input(order[i], batch.data() + i % rows * 3 * 224 * 224);
        }
        data.end_epoch();
    };
    read_all(); // the first epoch gets the memory
    for (auto _ : state) {
        read_all();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(files));
}

BENCHMARK(bare_decoding)->Unit(benchmark::kMillisecond);
BENCHMARK(resizing)->Unit(benchmark::kMillisecond);
BENCHMARK(decoding_and_resizing)->Unit(benchmark::kMillisecond);
BENCHMARK(large_photograph)->ArgName("draft")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(training_input)
    ->ArgName("workers")
    ->Arg(1)
    ->Arg(2)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
