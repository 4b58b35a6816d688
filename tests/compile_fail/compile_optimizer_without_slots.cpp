// An optimizer says how many numbers it keeps for a parameter.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): the optimizer lacks a member: name, slots, learning_rate or at<T>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct descent {
    double learning_rate = 0.1;
    static constexpr char const* name = "descent";
    template <class T>
    struct rule {
        T rate;
        template <class V>
        void operator()(V& p, V g) const {
            p -= rate * g;
        }
    };
    template <class T>
    rule<T> at(unsigned long, double rate) const {
        return {T(rate)};
    }
};
using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, descent{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
