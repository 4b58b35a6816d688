// Tensors on a GPU in memory that is shared by DLPack, on a simulated GPU.
#include <castnet/castnet.hpp>
#include <castnet/device/cuda/tensor.hpp>
#include <castnet/device/cuda/tensor/dlpack.hpp>

#include "tensor_launches.hpp"

#include <doctest/doctest.h>
#include <string>

namespace cn = castnet;
using gpu = cn::device::cuda;

namespace {

using host_matrix = cn::tensor<float, cn::shape<2, 3>>;
using matrix = cn::tensor<float, cn::shape<2, 3>, gpu>;

template <class Tensor>
std::string refused(DLManagedTensor* from) {
    try {
        cn::from_dlpack<Tensor>(from);
    } catch (cn::error const& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("tensors on a GPU go to others, computed, and come back") {
    auto const x = cn::to<gpu>(host_matrix::arange());
    DLManagedTensor* const given = cn::to_dlpack(matrix{x * 2});
    CHECK(cn::cuda::tensor_stream::current().is_done());
    DLTensor const& t = given->dl_tensor;
    CHECK(int(t.device.device_type) == 2);
    CHECK(t.device.device_id == 0);
    CHECK(t.shape[1] == 3);
    CHECK(
        refused<host_matrix>(given) ==
        "castnet: from_dlpack: the tensor is on device 0 of type 2, expected 1, the host: copy it "
        "there before, as by .cpu()");
    CHECK(refused<cn::tensor<float, cn::shape<3, 2>, gpu>>(given) ==
          "castnet: from_dlpack: the tensor is float32 (2, 3), expected float32 (3, 2)");
    auto const taken = cn::from_dlpack<matrix>(given);
    CHECK(static_cast<void*>(taken.view().data().get()) == t.data);
    matrix const sum = taken.view() + x;
    CHECK(cn::array_equal(cn::to<cn::device::cpu>(sum), 3 * host_matrix::arange()));
}

TEST_CASE("views of tensors on a GPU are lent, and only those of this GPU are taken") {
    auto x = cn::to<gpu>(host_matrix::arange());
    DLManagedTensor* const lent = cn::to_dlpack(x.view());
    CHECK(lent->dl_tensor.data == static_cast<void*>(x.data().get()));
    lent->dl_tensor.device.device_id = 3;
    CHECK(refused<matrix>(lent) ==
          "castnet: from_dlpack: the tensor is on device 3 of type 2, expected 2, GPU 0: copy it "
          "there before, as by .cuda()");
    lent->dl_tensor.device = {kDLCPU, 0};
    CHECK(refused<matrix>(lent).find("on device 0 of type 1, expected 2, GPU 0") !=
          std::string::npos);
    lent->deleter(lent);
}
