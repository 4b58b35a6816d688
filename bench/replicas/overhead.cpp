// A training step of policy::mirrored<policy::cpu, 1> beside that of policy::cpu, on one thread.
#include <castnet/policy/mirrored.hpp>

#include "../networks.hpp"
#include "measure.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

using namespace bench;

template <class What, class Policy, size_t Batch>
struct trained {
    using model_type = cn::model<typename What::network, Policy, cn::batch<Batch>>;
    model_type model{cn::seed{42}};
    decltype(cn::compile(std::declval<model_type&>(), What::loss, cn::adam{})) training =
        cn::compile(model, What::loss, cn::adam{});
};

template <class What, size_t Batch>
void compare(char const* name, int rounds) {
    auto const data = random_samples<typename What::dataset>(Batch);
    std::vector<size_t> all(Batch);
    std::iota(all.begin(), all.end(), size_t(0));
    trained<What, cn::policy::cpu, Batch> alone;
    trained<What, cn::policy::mirrored<cn::policy::cpu, 1>, Batch> mirrored;
    auto const step = [&](auto& t) { return [&] { t.training.step(data, all); }; };
    step(alone)();
    step(mirrored)();
    std::vector<double> times, ratios;
    for (int k = 0; k < rounds; ++k) {
        double const a = time_of(step(alone), 0.1), b = time_of(step(mirrored), 0.1);
        times.push_back(a);
        ratios.push_back(b / a);
    }
    spread const r = spread_of(ratios);
    std::printf("| %s/batch:%zu | %.0f | %+.1f %% | %+.1f … %+.1f %% |\n", name, Batch,
                1e6 * spread_of(times).median, 100 * (r.median - 1), 100 * (r.least - 1),
                100 * (r.most - 1));
    std::fflush(stdout);
}

} // namespace

int main(int count, char** arguments) {
    use_threads(1);
    int const rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 21;
    std::printf("| training step | µs of policy::cpu | mirrored<cpu, 1>, median | min … max |\n"
                "|---|---:|---:|---:|\n");
    compare<convnet, 32>("convnet", rounds);
    compare<convnet, 128>("convnet", rounds);
    compare<dropout_cnn, 128>("dropout_cnn", rounds);
    compare<wide_mlp, 128>("wide_mlp", rounds);
    compare<tiny_mlp, 128>("tiny_mlp", rounds);
    return 0;
}
