// mirrored_fashion_mnist.cpp on the GPUs that the program sees, with sums by NCCL.
#include "mirrored_fashion_mnist.cpp"
