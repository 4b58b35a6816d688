// Without a GPU the tests of this folder say so and are skipped (77).
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

int main(int count, char** arguments) {
    int devices = 0;
    cudaError_t const status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
        std::printf("skipped: no GPU: %s\n",
                    status != cudaSuccess ? cudaGetErrorString(status) : "none is visible");
        return 77;
    }
    return doctest::Context{count, arguments}.run();
}
