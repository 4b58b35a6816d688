// One network that predicts single samples: for every number of calls that it reads, it writes the
// processor's time and the time on the clock of all of them, in seconds. It is compiled by
// libraries.py, which says which network (HEADER, NETWORK).
#include HEADER
#include <castnet/castnet.hpp>

#include <ctime>
#include <iostream>

namespace cn = castnet;

double seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

int main() {
    using network = NETWORK;
    using model = cn::model<network, cn::policy::cpu, cn::batch<1>>;
    model m{cn::seed{42}};
    cn::predictor predict_with{m};
    cn::data::detail::random_stream random{0x62656e63, 42, 0};
    std::vector<float> x(cn::detail::nth_of<0, network::inputs>::count);
    std::vector<float> y(cn::detail::nth_of<0, model::output_shapes>::count);
    for (float& number : x) {
        number = float(random.uniform());
    }
    for (int calls = 0; std::cin >> calls;) {
        double const processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
        double const clock = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < calls; ++i) {
            predict_with.predict_one(x.data(), y.data());
        }
        std::cout << seconds(CLOCK_PROCESS_CPUTIME_ID) - processor << ' '
                  << seconds(CLOCK_MONOTONIC) - clock << std::endl;
    }
}
