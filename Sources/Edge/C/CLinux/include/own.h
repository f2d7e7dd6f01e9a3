/* This process's use of its machine. */
#pragma once
#include <stdint.h>

/* Memory that is resident, in bytes; 0 where /proc does not say. */
uint64_t camarb_own_memory(void);
/* Open descriptors; 0 where /proc does not say. */
int camarb_own_descriptors(void);
/* Gives freed memory back to the system: the C library keeps much of it, of each thread, and it would count as used. */
void camarb_give_back_memory(void);
/* Prints "PROGRAM VERSION" where the one word of the command line is --version, and returns whether it did: for the programs in C. The
 * version is that of the file VERSION. */
int camarb_says_version(int argc, char **argv, const char *program);
