/* libFuzzer's entry for a program that has a main function of its own. It is there in builds for fuzzing only. */
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*one)(const uint8_t *bytes, size_t size));
