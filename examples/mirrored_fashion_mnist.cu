// mirrored_fashion_mnist.cpp on all GPUs that the program sees; NCCL computes the sums.
#include "mirrored_fashion_mnist.cpp"
