/* Whether a descriptor can take a photo or a recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why it cannot. */
enum camarb_file_fault {
    camarb_file_good = 0,
    camarb_file_not_regular,
    camarb_file_path_only,
    camarb_file_not_writable,
    camarb_file_append_only,
    camarb_file_sealed,
    /* On one of the kernel's own file systems. */
    camarb_file_kernel,
    /* On a file system that a program serves: it could let whoever writes or closes wait for ever. */
    camarb_file_fuse,
    /* On a file system that is not in the list of those that are known to keep pictures. */
    camarb_file_unknown_system,
    camarb_file_unreadable,
};

struct camarb_file {
    uint64_t device;
    uint64_t inode;
    /* The file system's number in linux/magic.h, where it could be asked for; else 0. */
    uint64_t system;
    /* What it is, as in stat(2), where that could be asked for; else 0. */
    uint32_t mode;
    uint32_t unused;
};

/* Checks without touching the file's content. It may ask whoever serves the file, and wait for him without end. */
enum camarb_file_fault camarb_check_output_file(int descriptor, struct camarb_file *file);

/* Whether a file of that name gives whoever runs it capabilities that he has not: an extended attribute, as capabilities(7) has it. */
bool camarb_file_has_capabilities(const char *path);

/* Whether a text is somewhere in these bytes. */
bool camarb_bytes_have(const void *bytes, size_t count, const char *text);
