/* What this process uses of its machine. */
#pragma once
#include <stdint.h>

/* Memory that is resident, in bytes; 0 where /proc does not say. */
uint64_t camarb_own_memory(void);
/* Open descriptors; 0 where /proc does not say. */
int camarb_own_descriptors(void);
/* Gives what was freed back to the system: the C library keeps much of it, of each thread, and it would count as used. */
void camarb_give_back_memory(void);
/* Says "PROGRAM VERSION" on standard output where the one word of the command line is --version, and whether it did: for
 * the programs in C. The version is that of the file VERSION. */
int camarb_says_version(int argc, char **argv, const char *program);
