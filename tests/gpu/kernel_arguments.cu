// What may cross a kernel launch: castnet's bodies do, and every one that a network with all kinds
// of steps needs is instantiated here. (nvcc writes invalid C++ for a kernel whose template
// arguments hold an array.)
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

#include <doctest/doctest.h>

namespace cn = castnet;

namespace {

struct nested {
    int a;
    float b;
};
template <nested N, class Program>
struct body {
    double* to;
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        if (block.thread() == 0) {
            *to = N.a + double(N.b) + Program::size;
        }
    }
};

} // namespace

TEST_CASE("structs of numbers, instructions and plain bodies cross a launch") {
    using program = cn::ir::program<cn::ir::instruction{cn::ir::opcode::constant},
                                    cn::ir::instruction{cn::ir::opcode::store}>;
    cn::cuda::session const session{cn::policy::cuda{}};
    cn::cuda::memory const memory{sizeof(double)};
    cn::cuda::launch(session.compute().get(), {2, 64, 0},
                     body<nested{3, 0.5F}, program>{memory.as<double>()});
    session.read(memory.as<double>(), 1, [](double const* x) { CHECK(*x == 4.5); });
}
