// Every optimizer on a device against PyTorch over six steps, in double. The gradient by the
// weights of a product is its input, where the gradient by its output is 1.
#include <castnet/nn/dense.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/train/training.hpp>

#include "../golden_optimizers.hpp"
#include "exact_set.hpp"
#include "policy.hpp"

namespace cn = castnet;
using check::values;

namespace {

constexpr std::size_t count = 20;
using network = cn::sequential<cn::input<count>, cn::dense<1>.no_bias()>;
using data_set = check::exact_set<cn::shape<1>, cn::shape<count>>;

struct as_in_pytorch {
    template <class Optimizer>
    void operator()(std::string const& name, Optimizer const& optimizer) const {
        static check::golden_file const file{"optimizers"};
        cn::model<network, check::policy, cn::batch<1>> model;
        model.set("0.weight", file[name + "/parameter0"]);
        values const far_below(6, -1e6); // so the derivative of the distance is 1
        data_set const data{{file[name + "/gradients"]}, far_below, values(6, 1)};
        auto training = cn::compile(model, cn::mae, optimizer);
        values found;
        for (std::size_t step = 0; step < 6; ++step) {
            training.step(data, std::span{&step, 1});
            auto const w = model.get("0.weight");
            found.insert(found.end(), w.begin(), w.end());
        }
        check::close(name, found, file[name + "/parameters"], 1e-13);
    }
};

} // namespace

TEST_CASE("every optimizer takes the steps of PyTorch's") {
    check::for_each_golden_optimizer(as_in_pytorch{});
}
