// Hints of fit: given where the cause is certain, and once.
#include <castnet/castnet.hpp>

#include "../temporary_path.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace cn = castnet;

namespace {

// What f writes to standard error.
template <class F>
std::string errors_of(F const& f) {
    std::string const name =
        (std::filesystem::temp_directory_path() / ("castnet_hints_" + std::to_string(::getpid())))
            .string();
    std::fflush(stderr);
    int const kept = ::dup(2), file = ::open(name.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    ::dup2(file, 2);
    f();
    std::fflush(stderr);
    ::dup2(kept, 2);
    ::close(kept);
    ::close(file);
    auto const bytes = cn::io::read_file(name);
    std::filesystem::remove(name);
    return {bytes.begin(), bytes.end()};
}

using network = cn::sequential<cn::input<4>, cn::dense<3>>;
struct scaled_first {
    constexpr auto operator()(auto x) const { return (x * (1.0 / 255)) | cn::dense<3>; }
};
using scaling_network = cn::network<scaled_first{}, cn::input<4>>;

template <class Network>
std::string errors_of_fit(double scale, unsigned char largest, cn::verbosity verbose) {
    cn::model<Network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    std::vector<unsigned char> bytes(32, 1);
    bytes[5] = largest;
    cn::data::dataset<cn::data::label<3>, cn::shape<4>> const data{cn::data::column{bytes, scale},
                                                                   std::vector<int>(8, 1)};
    return errors_of([&] { training.fit(data, {.verbose = verbose}); });
}
bool mentions_bytes(std::string const& errors) {
    return errors.find("as bytes of 0 to 255") != std::string::npos;
}

} // namespace

TEST_CASE("bytes that go into a product as they are get a hint, once") {
    auto const lines = cn::verbosity::lines;
    CHECK(errors_of_fit<network>(1, 255, cn::verbosity::silent) == "");
    CHECK(!mentions_bytes(errors_of_fit<network>(1.0 / 255, 255, lines)));
    CHECK(!mentions_bytes(errors_of_fit<network>(1, 1, lines)));
    CHECK(!mentions_bytes(errors_of_fit<scaling_network>(1, 255, lines)));
    CHECK(mentions_bytes(errors_of_fit<network>(1, 255, lines)));
    CHECK(errors_of_fit<network>(1, 255, lines) == "");
}

TEST_CASE("a training of which everything is frozen gets a hint") {
    cn::model<network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    cn::data::dataset<cn::data::label<3>, cn::shape<4>> const data{std::vector<float>(32, 1),
                                                                   std::vector<int>(8, 1)};
    auto const fit = [&] { training.fit(data, {.verbose = cn::verbosity::lines}); };
    training.freeze("0.weight");
    CHECK(errors_of(fit).find("frozen") == std::string::npos);
    training.freeze("0.bias");
    CHECK(errors_of(fit).find("no parameter is trained") != std::string::npos);
}

TEST_CASE("a hint is given once, and none to a program that is optimised") {
    std::atomic_flag given;
    CHECK(errors_of([&] {
              cn::detail::hint(given, "one");
              cn::detail::hint(given, "two");
          }) == "castnet: fit: one\n");
    CHECK(errors_of([] { cn::detail::hint_at_optimisation(true); }) == "");
}

TEST_CASE("a machine is busy where others use all cores now and have for a minute") {
    CHECK(cn::detail::is_busy("2.50 1.00 0.90 3/400 1234\n", 2));
    CHECK(!cn::detail::is_busy("2.50 1.00 0.90 2/400 1234\n", 2));
    CHECK(!cn::detail::is_busy("1.90 1.00 0.90 9/400 1234\n", 2));
    CHECK(!cn::detail::is_busy("", 2));
}

TEST_CASE("a fit that has nothing left to do says so") {
    auto const folder = std::filesystem::temp_directory_path();
    auto const file = (folder / ("castnet_hints_" + std::to_string(::getpid()) + ".safetensors"));
    cn::model<network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const fit = [&](int epochs, cn::verbosity verbose) {
        return errors_of([&] {
            auto const history = training.fit(cn::data::blobs<3, 4>(8, 1),
                                              {.epochs = epochs,
                                               .verbose = verbose,
                                               .checkpoint = cn::checkpoint(training, file)});
            CHECK(history.epochs() == std::size_t(std::max(epochs, 2)));
        });
    };
    CHECK(fit(2, cn::verbosity::silent) == "");
    cn::load(training, file);
    CHECK(fit(2, cn::verbosity::lines).find("nothing is left to train") != std::string::npos);
    cn::load(training, file);
    CHECK(fit(1, cn::verbosity::silent) == "");
    cn::load(training, file);
    CHECK(fit(3, cn::verbosity::lines).find("nothing is left") == std::string::npos);
    CHECK(training.steps() == 3);
    std::filesystem::remove(file);
}

TEST_CASE("a fit that goes on with data of another size says so") {
    check::temporary_path const place{"other_data.safetensors"};
    cn::model<network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const fit = [&](std::size_t samples, int epochs, cn::verbosity verbose) {
        return errors_of([&] {
            training.fit(cn::data::blobs<3, 4>(samples, 1),
                         {.epochs = epochs,
                          .verbose = verbose,
                          .checkpoint = cn::checkpoint(training, place.name)});
        });
    };
    CHECK(fit(8, 2, cn::verbosity::silent) == "");
    cn::load(training, place.name);
    CHECK(fit(16, 3, cn::verbosity::lines)
              .find("epoch 2 with a data set of 8 samples: goes on "
                    "with another one, of 16") != std::string::npos);
    CHECK(training.steps() == 4);
    cn::load(training, place.name);
    CHECK(fit(8, 4, cn::verbosity::silent) == "");
}

TEST_CASE("a fit that goes on after others have ended says so") {
    check::temporary_path const place{"stages.safetensors"};
    std::string const& file = place.name;
    cn::model<network, cn::policy::cpu, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const fit = [&](int epochs, cn::verbosity verbose) {
        return errors_of([&] {
            training.fit(cn::data::blobs<3, 4>(8, 1),
                         {.epochs = epochs,
                          .verbose = verbose,
                          .checkpoint = cn::checkpoint(training, file)});
        });
    };
    std::string const hint = "fits of 2 epochs had ended before it, so do not call those again";
    CHECK(fit(2, cn::verbosity::silent) == "");
    CHECK(fit(1, cn::verbosity::lines).find(hint) == std::string::npos);
    cn::load(training, file);
    CHECK(fit(3, cn::verbosity::silent) == "");
    cn::load(training, file);
    CHECK(fit(4, cn::verbosity::lines).find(hint) != std::string::npos);
    CHECK(fit(1, cn::verbosity::lines).find(hint) == std::string::npos);
}
