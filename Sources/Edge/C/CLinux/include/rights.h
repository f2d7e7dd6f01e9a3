/* The owner, group and mode bits that decide on opening a file, without opening it. */
#pragma once
#include <stdint.h>

struct camarb_rights {
    uint32_t owner;
    uint32_t group;
    /* The permission bits. */
    uint32_t mode;
    /* It has an access list with more in it than owner, group and others. */
    int has_access_list;
};

/* 0, or -errno. */
int camarb_rights_of(const char *path, struct camarb_rights *rights);
