/* The rest of the memory that a recorder core may use for files in memory (tmpfs, memfd). Their pages are charged to the control group of
 * the process that writes them, as the camera's own memory is, and only their owner can take them back. */
#pragma once
#include <stdint.h>

/* Bytes of each group, and of the machine, that files in memory leave alone: as much as a camera takes at most (streams of a
 * grant, buffers that clients keep of earlier ones, and the recorder core itself). Half of a group that has less than twice as
 * much; an eighth of a machine with little. */
#define CAMARB_CAMERA_MEMORY (INT64_C(1) << 30)

/* Bytes that files in memory may still take, of the groups that this process is in and of the machine; 0 or less: none. Memory that the
 * kernel can take back counts as free. INT64_MAX: neither a group nor the machine has a figure. `system` is the folder of /proc and /sys,
 * "" for the machine's own; `machine` is the machine's memory in bytes. */
int64_t camarb_memory_room(const char *system, int64_t machine);

/* Bytes of memory that the machine has. */
int64_t camarb_machine_memory(void);
