#define _GNU_SOURCE
#include "files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Numbers of linux/magic.h and of the file systems' own sources; several of them are in no header of Debian 12's. */
static enum camarb_file_fault fault_of_system(unsigned long system) {
    switch (system) {
    case 0xef53:     /* ext2, ext3, ext4 */
    case 0x58465342: /* xfs */
    case 0x9123683e: /* btrfs */
    case 0xf2f52010: /* f2fs */
    case 0xca451a4e: /* bcachefs */
    case 0x2fc12fc1: /* zfs */
    case 0x3153464a: /* jfs */
    case 0x52654973: /* reiserfs */
    case 0x3434:     /* nilfs2 */
    case 0x01021994: /* tmpfs, and memory files */
    case 0x858458f6: /* ramfs */
    case 0x794c7630: /* overlayfs */
    case 0xf15f:     /* ecryptfs */
    case 0x4d44:     /* vfat */
    case 0x2011bab0: /* exfat */
    case 0x7366746e: /* ntfs3 */
    case 0x482b:     /* hfsplus */
    case 0x15013346: /* udf */
    case 0x6969:     /* nfs */
    case 0xff534d42: /* cifs */
    case 0xfe534d42: /* smb2, smb3 */
    case 0x00c36400: /* ceph */
    case 0x01161970: /* gfs2 */
    case 0x7461636f: /* ocfs2 */
    case 0x01021997: /* 9p: a virtual machine's shared folder */
        return camarb_file_good;
    case 0x65735546: /* fuse, virtiofs too */
        return camarb_file_fuse;
    case 0x9fa0:     /* procfs */
    case 0x62656572: /* sysfs */
    case 0x64626720: /* debugfs */
    case 0x74726163: /* tracefs */
    case 0x63677270: /* cgroup2 */
    case 0x27e0eb:   /* cgroup */
    case 0x73636673: /* securityfs */
    case 0x19800202: /* mqueue */
    case 0x5345434d: /* secretmem */
    case 0x62656570: /* configfs */
    case 0xde5e81e4: /* efivarfs */
    case 0x6e736673: /* nsfs */
    case 0xcafe4a11: /* bpf */
    case 0xf97cff8c: /* selinuxfs */
        return camarb_file_kernel;
    }
    return camarb_file_unknown_system;
}

enum camarb_file_fault camarb_check_output_file(int descriptor, struct camarb_file *file) {
    *file = (struct camarb_file){0};
    struct statfs system;
    if (fstatfs(descriptor, &system) < 0) return camarb_file_unreadable;
    file->system = (uint32_t)system.f_type;
    enum camarb_file_fault fault = fault_of_system(file->system);
    /* Asked nothing more: each question is one more wait for its server. */
    if (fault == camarb_file_fuse) return fault;
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &status) < 0)
        return camarb_file_unreadable;
    file->mode = status.stx_mode;
    if (!S_ISREG(status.stx_mode)) return camarb_file_not_regular;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0) return camarb_file_unreadable;
    if (flags & O_PATH) return camarb_file_path_only;
    if ((flags & O_ACCMODE) == O_RDONLY) return camarb_file_not_writable;
    if (flags & O_APPEND) return camarb_file_append_only;
    if (fault != camarb_file_good) return fault;
    /* Only memory files have seals; all others answer EINVAL. */
    int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals > 0 && (seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | 0x10 /* F_SEAL_FUTURE_WRITE */)))
        return camarb_file_sealed;
    file->device = makedev(status.stx_dev_major, status.stx_dev_minor);
    file->inode = status.stx_ino;
    return camarb_file_good;
}

bool camarb_file_has_capabilities(const char *path) { return getxattr(path, "security.capability", NULL, 0) > 0; }

bool camarb_bytes_have(const void *bytes, size_t count, const char *text) { return memmem(bytes, count, text, strlen(text)) != NULL; }
