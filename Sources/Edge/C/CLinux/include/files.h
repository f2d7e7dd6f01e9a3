/* Whether a descriptor can take a photo or a recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum camarb_file_fault {
    camarb_file_good = 0,
    camarb_file_not_regular,
    camarb_file_path_only,
    camarb_file_not_writable,
    camarb_file_append_only,
    camarb_file_sealed,
    /* On one of the kernel's own file systems. */
    camarb_file_kernel,
    /* On a file system that a program serves: it could make a writer or closer wait for ever. */
    camarb_file_fuse,
    /* On a file system outside the list of file systems that keep pictures. */
    camarb_file_unknown_system,
    camarb_file_unreadable,
};

struct camarb_file {
    uint64_t device;
    uint64_t inode;
    /* The file system's number in linux/magic.h; 0: not known. */
    uint64_t system;
    /* The mode of stat(2); 0: not known. */
    uint32_t mode;
    uint32_t unused;
};

/* Checks without touching the file's content. It may ask the file's server, and wait for it without end. */
enum camarb_file_fault camarb_check_output_file(int descriptor, struct camarb_file *file);

/* Whether a file of that name gives its process capabilities that its user has not: an extended attribute, as in capabilities(7). */
bool camarb_file_has_capabilities(const char *path);

/* Whether a text is somewhere in these bytes. */
bool camarb_bytes_have(const void *bytes, size_t count, const char *text);
