/* Habits of programs that endanger the door: children that share its memory, numbers of descriptors that it
 * takes for free, handlers of signals that fork, libudev's rarer functions.
 *
 * usage: mean          says what is wrong and exits with 1 */
#include "program.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

enum { NUMBERS = 100 };

static int streams(void) {
    int camera = open("/dev/video0", O_RDWR);
    REQUIRE(camera >= 0);
    begin(camera, V4L2_MEMORY_MMAP);
    return camera;
}

static void take(int camera, int count) {
    while (count--) {
        struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        int error;
        do error = ioctl(camera, VIDIOC_DQBUF, &buffer);
        while (error < 0 && errno == EINTR);
        REQUIRE(error == 0 && ioctl(camera, VIDIOC_QBUF, &buffer) == 0);
    }
}

/* As Python's subprocess and others do between vfork and exec: everything is closed, and numbers are taken, in memory that is the parent's. */
static void closes_all_in_shared_memory(void) {
    int camera = streams();
    take(camera, 2);
    pid_t child = vfork();
    if (!child) {
        for (int at = 3; at < 700; at++) close(at);
        bool is_wrong = dup2(0, camera) != camera || dup2(0, 520) != 520 || close(camera) < 0;
        _exit(is_wrong);
    }
    ends_well(child);
    take(camera, 10);
    close(camera);
}

static void takes_numbers(void) {
    int camera = streams();
    /* A shell's redirections, and daemons that have theirs at fixed places. */
    for (int at = 3; at < NUMBERS; at++)
        if (at != camera) REQUIRE(dup2(0, at) == at);
    take(camera, 5);
    REQUIRE(dup2(NUMBERS + 50, camera) < 0 && errno == EBADF);
    take(camera, 5);
    /* In a child none of ours is in the way. */
    pid_t child = fork();
    if (!child) {
        for (int at = 3; at < 700; at++)
            if (dup2(0, at) != at) _exit(1);
        _exit(0);
    }
    ends_well(child);
    take(camera, 5);
    errno = ENOTEMPTY;
    REQUIRE(close(camera) == 0 && errno == ENOTEMPTY);
    for (int at = 3; at < NUMBERS; at++) close(at);
}

static void fork_now(int number) {
    (void)number;
    int before = errno;
    pid_t child = fork();
    if (!child) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    errno = before;
}

/* In the midst of whatever the door does. */
static void forks_in_a_handler(void) {
    struct sigaction action = {.sa_handler = fork_now};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0}, {0}};
    sigaction(SIGALRM, &action, NULL);
    /* Not while the door takes memory: libc itself does not bear a fork in the midst of malloc. */
    int camera = streams();
    take(camera, 2);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; round < 10; round++) {
        take(camera, 1);
        struct v4l2_capability has;
        for (int at = 0; at < 20000; at++) REQUIRE(ioctl(camera, VIDIOC_QUERYCAP, &has) == 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    close(camera);
}

/* As a program finds them that was built with it: the door's first. */
#define FIND(type, name, ...) type (*name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #name); REQUIRE(name)

static void asks_libudev(void) {
    if (!dlopen("libudev.so.1", RTLD_NOW | RTLD_GLOBAL)) {
        puts("no libudev here");
        return;
    }
    FIND(void *, udev_new, void);
    FIND(void *, udev_unref, void *);
    FIND(void *, udev_device_new_from_devnum, void *, char, dev_t);
    FIND(void *, udev_device_unref, void *);
    FIND(void *, udev_device_get_properties_list_entry, void *);
    FIND(void *, udev_list_entry_get_by_name, void *, const char *);
    FIND(const char *, udev_list_entry_get_value, void *);
    FIND(void *, udev_device_get_current_tags_list_entry, void *);
    FIND(int, udev_device_has_tag, void *, const char *);
    FIND(int, udev_device_has_current_tag, void *, const char *);
    FIND(int, udev_device_set_sysattr_value, void *, const char *, const char *);
    FIND(void *, udev_enumerate_new, void *);
    FIND(int, udev_enumerate_add_match_subsystem, void *, const char *);
    FIND(int, udev_enumerate_scan_devices, void *);
    FIND(void *, udev_enumerate_get_list_entry, void *);
    FIND(const char *, udev_list_entry_get_name, void *);
    FIND(void *, udev_enumerate_ref, void *);
    FIND(void *, udev_enumerate_unref, void *);
    void *udev = udev_new();
    void *device = udev_device_new_from_devnum(udev, 'c', makedev(81, 0));
    REQUIRE(udev && device);
    void *properties = udev_device_get_properties_list_entry(device);
    REQUIRE(strcmp(udev_list_entry_get_value(udev_list_entry_get_by_name(properties, "DEVNAME")), "/dev/video0") == 0);
    REQUIRE(!udev_list_entry_get_by_name(properties, "NONE"));
    REQUIRE(!udev_device_has_tag(device, "uaccess") && !udev_device_has_current_tag(device, "uaccess"));
    REQUIRE(!udev_device_get_current_tags_list_entry(device));
    REQUIRE(udev_device_set_sysattr_value(device, "name", "x") == -EACCES);
    udev_device_unref(device);
    void *enumeration = udev_enumerate_new(udev);
    REQUIRE(udev_enumerate_add_match_subsystem(enumeration, "video4linux") == 0);
    udev_enumerate_scan_devices(enumeration);
    void *list = udev_enumerate_get_list_entry(enumeration);
    udev_enumerate_ref(enumeration);
    udev_enumerate_unref(enumeration);
    REQUIRE(list && strstr(udev_list_entry_get_name(list), "/video0"));
    udev_enumerate_unref(enumeration);
    udev_unref(udev);
}

int main(void) {
    closes_all_in_shared_memory();
    takes_numbers();
    forks_in_a_handler();
    asks_libudev();
    puts("nothing happened");
    return 0;
}
