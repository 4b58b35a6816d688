// two_device_lstm.cpp on two GPUs.
#include "two_device_lstm.cpp"
