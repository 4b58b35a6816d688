// A data set is the same for all that read it, so what it is told of epochs goes to mutable
// members.
// expect: castnet: a data set is told of epochs by begin_epoch\(cn::data::epoch const&\) const
// expect: noise
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct noise {
    using target_type = cn::shape<1>;
    template <std::size_t>
    using input_shape = cn::shape<2>;
    static constexpr std::size_t input_count = 1;
    std::uint64_t number = 0;

    std::size_t size() const { return 100; }
    void begin_epoch(cn::data::epoch const& now) { number = now.number; }
    template <std::size_t, class T>
    void copy_input(std::size_t, T* out) const {
        out[0] = out[1] = T(number);
    }
    template <class T>
    void copy_target(std::size_t, T* out) const {
        *out = 0;
    }
};
using net = cn::sequential<cn::input<2>, cn::dense<1>>;

void fit(cn::model<net, cn::policy::cpu, cn::batch<4>>& model) {
    auto training = cn::compile(model, cn::mse, cn::adam{});
    training.fit(noise{});
}
