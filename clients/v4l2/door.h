/* door.h: what the files of libcamarb-v4l2 share: the V4L2 door of the broker, for programs that know /dev/video* and nothing else.
 *
 * hooks.c      the libc functions that such programs call; each looks whether it is about one of our nodes, and passes on otherwise; looks.c
 *              has those that only look
 * names.c      whether this program is to be served at all, and which names mean a video node or a file of one in sysfs
 * folders.c    listings of /dev and of sysfs with our nodes in them; udev.c, those of libudev
 * library.c    libcamarb and libturbojpeg, loaded when the first node is touched
 * door.c       cameras as devices, open files, the connection to the broker
 * sysfs.c      a device's files in sysfs
 * ioctls.c     what VIDIOC_… ask; formats.c, controls.c and queue.c answer
 * memory.c     the program's memory, which may not be where it says
 * stream.c     the one private thread: frames and slates into buffers, while anything streams
 * pictures.c   NV12 as the broker gives it, into what the program asked for
 *
 * One lock, `door_lock`, is around all that is shared; nothing of the program's is called under it. Before a node is touched there is no
 * connection, no thread, no memory and no output. The private thread is there because poll must see a buffer without a call of the
 * program's: a timer in its place would promise buffers that a camera has not sent yet.
 *
 * The program's descriptor is the read end of a pipe with a byte in it for each buffer that is ready, so that poll, select and
 * epoll work by themselves. A pipe and no eventfd: it has an inode of its own, by which a number that the program closed behind our back
 * and had again for another file is told from ours, and is never writable. While nothing streams there is a byte in it, as the kernel says
 * POLLERR then: a program that polls before STREAMON must not wait for ever. Events alone (POLLPRI) are said by a hook;
 * they are of the program's own making, and so never missed by a poll that has begun.
 */
#ifndef CAMARB_DOOR_H
#define CAMARB_DOOR_H

#include "../libcamarb/camarb.h"

#include <linux/videodev2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)

enum {
    DEVICES_MAX = 64, /* more cameras than a machine has; libcamarb knows as many */
    /* As videobuf2 has it. */
    BUFFERS_MAX = 32,
    SIZES_MAX = 64,
    /* The usual ones are a dozen; of a size that the camera has in several formats each adds its fastest. */
    RATES_MAX = 32,
    FORMATS_MAX = 256,
    CONTROLS_MAX = 32,
    CONTROL_WORDS_MAX = 8,
    EVENTS_MAX = 32,
    SUBSCRIPTIONS_MAX = 32,
    ID_MAX = 192,
    NAME_MAX_BYTES = 128,
    /* Numbers of descriptors that are looked after; a program with more open files than that has its cameras below them. */
    DESCRIPTORS_MAX = 65536,
    /* Numbers of descriptors of ours begin here where the program may have so many: below them it finds what it expects to find free, and puts
     * what it likes by dup2. */
    OWN_FIRST = 512,
    /* How large a number in /dev/videoN may be, as in the kernel. */
    NUMBER_MAX = 255,
    VIDEO_MAJOR = 81,
};

/* ── Devices ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A format as the broker names it. */
struct source {
    char pixel_format[8];
    uint32_t width, height;
    double least_rate, most_rate;
    char name[64]; /* as activeFormat takes it */
};

struct size {
    uint32_t width, height;
    struct v4l2_fract intervals[RATES_MAX]; /* in lowest terms, the shortest first */
    size_t interval_count;
};

/* A control of V4L2's and the key of a configuration behind it. */
struct control {
    uint32_t id;
    const char *key;
    enum v4l2_ctrl_type type;
    int32_t least, most, step, usual, value;
    double unit; /* of a number: what 1 is worth */
    const char *words[CONTROL_WORDS_MAX]; /* of a mode, by value; NULL: no such value */
    bool is_set; /* by the program: only then the broker is told */
};

enum buffer_state { BUFFER_IDLE, BUFFER_QUEUED, BUFFER_READY };

struct buffer {
    enum buffer_state state;
    uint8_t *memory; /* our own mapping, or NULL */
    size_t mapped;
    uint32_t offset, length, used;
    unsigned long user; /* the program's memory */
    int64_t captured;
    uint32_t sequence;
    uint32_t slate; /* which one it was given last; 0: something else */
};

struct ring {
    uint8_t index[BUFFERS_MAX];
    unsigned first, count;
};

struct queue {
    struct file *owner; /* the file that asked for buffers; NULL: none */
    enum v4l2_memory memory;
    bool is_streaming;
    int file; /* the memory of all buffers, or -1 */
    dev_t file_device;
    ino_t file_inode;
    uint32_t file_bytes;
    unsigned count;
    struct buffer buffers[BUFFERS_MAX];
    struct ring queued, ready;
    unsigned generation; /* grows at each end of streaming: a waiting thread wakes up by it */
    uint32_t sequence;
};

/* A camera as a node. It stays for the process's life, present or not: whoever has it open never sees it go. */
struct device {
    int number;
    char id[ID_MAX], name[NAME_MAX_BYTES];
    bool is_present;
    struct source sources[FORMATS_MAX];
    size_t source_count;
    struct size sizes[SIZES_MAX];
    size_t size_count;
    struct control controls[CONTROLS_MAX];
    size_t control_count;
    /* The camera decides about HDR by itself, until it is told not to. */
    bool decides_hdr;
    unsigned open_count;
    struct file *files; /* that have it open */
    struct file *first; /* the one that has set the priority */
    enum v4l2_priority priority;

    /* The format and the time from frame to frame that the program asked for. */
    uint32_t fourcc, width, height, stride, bytes;
    struct v4l2_fract interval;
    bool is_full_range;
    struct queue queue;

    /* The session, while it streams. */
    camarb_session *session;
    camarb_call start_call;
    char ended[512]; /* why there is no session any more */
    char ended_reason[64];
    int64_t started, last_picture, next_slate;
    struct slate_picture {
        char text[1024];
        enum camarb_slate_kind kind;
        uint32_t fourcc, width, height;
        uint8_t *bytes;
        size_t count;
        uint32_t number; /* from 1, another one for each that is drawn */
    } slate;
};

/* ── Files ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

struct subscription {
    uint32_t type, id, flags;
};

/* An open file; dup'ed descriptors share it. */
struct file {
    struct device *device;
    struct file *next; /* of the device */
    unsigned descriptors, users; /* users: calls that are under way in it */
    int signal, drain; /* the pipe's write end, and its read end once more */
    dev_t pipe_device;
    ino_t pipe_inode;
    bool is_void; /* of a parent process, or of a door that is closed */
    enum v4l2_priority priority;
    struct subscription subscriptions[SUBSCRIPTIONS_MAX];
    size_t subscription_count;
    struct v4l2_event events[EVENTS_MAX];
    unsigned event_first, event_count;
    uint32_t event_sequence;
};

extern pthread_mutex_t door_lock;

extern pthread_mutex_t list_lock; /* For the listings of folders.c and udev.c. No other lock is taken under it. */

/* Around all that wants the lock, in a call of the program's: a thread of its may be cancelled in what we call, and would keep the lock. What
 * the first returns is given to the second. errno is as before. */
int door_enter(void);
void door_leave(int before);

/* Each of these wants the lock, unless it says otherwise. They return negative errno numbers. */

/* Cameras as they are now, where what is known is old. 0, or -ENODEV: there is no broker. */
int door_learn(void);
struct device *door_device(int number); /* NULL: that is none of ours */
size_t door_devices(struct device **found, size_t most); /* those that are present, by number */

/* Takes and gives up the lock by themselves. */
int door_open(int number, int flags); /* a descriptor, or a negative errno number; -ESRCH: none of ours */
bool door_close(int descriptor); /* before the descriptor is closed; false: none of ours */
void door_duplicate(int from, int to); /* `to` is the same file now */
bool door_has(int descriptor);
bool door_has_event(int descriptor); /* what POLLPRI says */
int door_number(int descriptor); /* -1: none of ours */
int door_ioctl(int descriptor, unsigned long request, void *argument); /* -ENOSYS: none of ours */
void *door_map(int descriptor, void *at, size_t length, int protection, int flags, off_t offset, int *error);

/* Whether a number of a descriptor is the door's own: the program must not close it. Without the lock. */
bool door_is_own(int descriptor);
void door_own(int descriptor, bool is_own);
void door_own_close(int descriptor); /* negative: none */
/* The same file under a number that is ours, out of the program's way; negative where that fails. The one that was given is closed. */
int door_raise(int descriptor);
/* False in a child of the program's that no fork handler has seen, and that may share our memory (vfork): nothing of ours is touched there. */
bool door_is_here(void);

struct file *file_take(int descriptor); /* its user, or NULL; takes no lock: wants it */
void file_give(struct file *file);
/* Both ends of its pipe are still what it opened: a program may have closed them past all hooks. */
bool file_is_whole(const struct file *file);
/* The pipe has as many bytes as there are things to take. */
void file_signal(struct file *file);
void file_event(struct file *file, const struct v4l2_event *event);
void file_event_drop(struct file *file); /* the oldest */

/* The connection, where there is one. */
camarb_client *door_client(void);
int door_connect(void);
/* Frees the client where nothing streams: an idle connection that nobody reads would be ended by the broker. */
void door_rest(void);
/* Takes events to the files that they concern. */
void door_events(void);
int64_t door_now(void);

/* ── Answers ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

int answer(struct file *file, unsigned long request, void *argument, int descriptor);

/* From the program's memory, and to it; false: it is not there. */
bool program_gives(void *copy, const void *memory, size_t bytes);
bool program_takes(void *memory, const void *copy, size_t bytes);
/* Whether it is there to be written, from its first byte to its last. */
bool program_has(unsigned long memory, size_t bytes);

void formats_learn(struct device *device, const camarb_camera *camera);
int formats_enumerate(struct device *device, struct v4l2_fmtdesc *wanted);
int formats_sizes(struct device *device, struct v4l2_frmsizeenum *wanted);
int formats_intervals(struct device *device, struct v4l2_frmivalenum *wanted);
void formats_get(struct device *device, struct v4l2_format *format);
struct size *formats_try(struct device *device, struct v4l2_format *format); /* the size that it comes to */
int formats_set(struct device *device, struct v4l2_format *format);
void formats_parameters(struct device *device, struct v4l2_streamparm *parameters);
/* True: the rate is another one now. */
bool formats_set_parameters(struct device *device, struct v4l2_streamparm *parameters);
/* The format that the broker is asked for, or NULL where the camera has none, and the rate. */
const struct source *formats_wanted(const struct device *device, double *rate);

void controls_learn(struct device *device, const camarb_camera *camera);
int controls_answer(struct file *file, uint32_t request, void *argument);
/* The controls that the program has set. */
void controls_configure(struct device *device, camarb_configuration *configuration);
int controls_subscribe(struct file *file, const struct v4l2_event_subscription *wanted);

void queue_reset(struct device *device);
int queue_request(struct file *file, struct v4l2_requestbuffers *wanted);
int queue_create(struct file *file, struct v4l2_create_buffers *wanted);
int queue_query(struct device *device, struct v4l2_buffer *buffer);
int queue_put(struct file *file, struct v4l2_buffer *buffer);
int queue_take(struct file *file, struct v4l2_buffer *buffer, int descriptor);
int queue_stream(struct file *file, int type, bool on);
/* 0: a buffer begins there, and is as long. */
int queue_map(const struct device *device, uint64_t offset, size_t length);
void ring_put(struct ring *ring, unsigned index);
int ring_take(struct ring *ring);

/* ── Streaming ──────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

int stream_start(struct device *device);
void stream_stop(struct device *device);
void stream_configure(struct device *device, bool has_rate); /* while it runs: the rate, or the controls */
void stream_event(const camarb_event *event);
void stream_forget(void); /* the connection has gone: sessions are void */
bool stream_is_any(void);
void stream_after_fork(void);

/* ── Pictures ───────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

bool pictures_has_jpeg(void);
uint8_t *pictures_room(uint8_t **kept, size_t *room, size_t bytes); /* kept from one picture to the next; NULL: there is no memory */
/* Bytes of a row and of a whole picture; for MJPG the most that one has. False: a format that is not offered. */
bool pictures_layout(uint32_t fourcc, uint32_t width, uint32_t height, uint32_t *stride, uint32_t *bytes);
/* Into `into`, which has room for what pictures_layout says. Bytes written, or a negative errno number. */
int64_t pictures_convert(const camarb_picture *picture, uint32_t fourcc, uint32_t width, uint32_t height, uint8_t *into);
int64_t pictures_slate(const camarb_slate *slate, uint32_t fourcc, uint32_t width, uint32_t height, uint8_t *into, size_t most);

/* ── Names, files, libraries ────────────────────────────────────────────────────────────────────────────────────────────────── */

/* Whether this program is to be served. Decided once, at the first name that looks like a video node's. */
bool names_is_on(void);
/* The number of the node that a path means, or -1. Cheap for every other path. */
int names_node(int folder, const char *path);
/* A file of a node in sysfs: its number, and what of it; or -1. `what` is "" for the node's folder itself. */
int names_sysfs(int folder, const char *path, char *what, size_t bytes);
/* 'd' for /dev, 'c' for /sys/class/video4linux, 'v' for the folder that its entries lead to, else 0. */
int names_folder(const char *path);
void names_app(char *name, size_t bytes);

/* The text of a device's file in sysfs; false: it has no such file. Wants the lock. */
bool sysfs_text(const struct device *device, const char *what, char *text, size_t bytes);
bool sysfs_is_folder(const char *what);
const char *sysfs_next(const char *folder, size_t *at); /* the next entry of a folder of a device's; NULL: no more */
/* As open and stat answer, with negative errno numbers. Take the lock themselves. */
int sysfs_open(int number, const char *what, int flags);
int sysfs_stat(int number, const char *what, struct stat *status);
int node_stat(int number, struct stat *status);
/* The identity of a real node, as the broker writes it; returns the number of the node or -1. */
int nodes_number(const char *id);
bool nodes_exists(int number);

extern __thread int door_inside; /* set while our own code calls libc: hooks pass everything on */

#define LIBRARY_CALLS(call)                                                                                                                \
    call(camarb_client_new) call(camarb_client_free) call(camarb_client_fd) call(camarb_client_dispatch) call(camarb_client_wait)          \
    call(camarb_client_declare_app) call(camarb_client_watch_cameras) call(camarb_client_cameras) call(camarb_call_finish)                 \
    call(camarb_frame_rate_fraction) call(camarb_client_error_name) call(camarb_client_next_event) call(camarb_configuration_new)          \
    call(camarb_configuration_free) call(camarb_configuration_set_word) call(camarb_configuration_set_number)                              \
    call(camarb_configuration_set_flag) call(camarb_session_new) call(camarb_session_free) call(camarb_session_set_tag)                    \
    call(camarb_session_tag) call(camarb_session_start) call(camarb_session_configure) call(camarb_session_set_pictures)                   \
    call(camarb_session_newest_frame) call(camarb_frame_picture) call(camarb_frame_is_intact) call(camarb_frame_release)                   \
    call(camarb_session_slate) call(camarb_slate_draw) call(camarb_configuration_key)

struct library {
#define MEMBER(name) __typeof__(name) *name;
    LIBRARY_CALLS(MEMBER)
#undef MEMBER
};

const struct library *library(void); /* Loaded at the first use; NULL: it is not there. Wants the lock. */

#endif
