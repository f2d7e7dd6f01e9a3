/* Cameras as devices, open files, and the connection to the broker. */
#define _GNU_SOURCE
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* How long a program's call may wait for the list of cameras, of a broker that is there: as long as libcamarb lets that take to
 * authenticate. One that was just started describes its cameras first. */
#define LEARNING_TIME_MAX (10 * SECOND)
#define KNOWLEDGE_AGE_MAX SECOND /* programs try one number after the other, and see one state of the machine */

pthread_mutex_t door_lock = PTHREAD_MUTEX_INITIALIZER, list_lock = PTHREAD_MUTEX_INITIALIZER;
__thread int door_inside;
static __thread int errno_before;

static struct device *devices[DEVICES_MAX];
static size_t device_count;
/* By descriptor; read without the lock, only to see whether there is one. */
static _Atomic(struct file *) files[DESCRIPTORS_MAX];
static _Atomic unsigned char own[DESCRIPTORS_MAX];
static _Atomic unsigned descriptor_count;

static _Atomic pid_t owner; /* the process that this state belongs to; 0: none yet */

static camarb_client *client;
static bool knows_cameras, has_broker;
static int64_t learned;

int64_t door_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

int door_enter(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    /* Set before the lock is taken, until after its release: a signal handler in between never waits for its own thread. */
    door_inside++;
    pthread_mutex_lock(&door_lock);
    errno_before = errno;
    return before;
}

void door_leave(int before) {
    errno = errno_before;
    pthread_mutex_unlock(&door_lock);
    door_inside--;
    pthread_setcancelstate(before, NULL);
}

/* ── Forks ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A handler of a signal may fork in the midst of what we do, with the lock (a program that catches its own crash does): then the thread has
 * it already. */
static void before_fork(void) {
    if (!door_inside) pthread_mutex_lock(&door_lock);
    pthread_mutex_lock(&list_lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&list_lock);
    if (!door_inside) pthread_mutex_unlock(&door_lock);
}

bool door_is_here(void) {
    pid_t known = atomic_load_explicit(&owner, memory_order_relaxed);
    return !known || known == getpid();
}

void door_own_close(int descriptor) {
    if (descriptor < 0) return;
    door_own(descriptor, false);
    close(descriptor);
}

/* The child has its parent's descriptors and none of its threads. They answer ENODEV from now on; a program that opens a node anew gets a
 * connection of its own. What the program does not know of is closed, so that nothing of ours is in its way there. */
static void in_child(void) {
    pthread_mutex_init(&door_lock, NULL);
    pthread_mutex_init(&list_lock, NULL);
    /* Forked by a handler in the midst of what we do: what is half done is not touched, and the child has nothing of ours. Its owner stays the
     * parent, so that descriptors are what the kernel says, and it goes on to exec or ends. */
    if (door_inside) return;
    atomic_store(&owner, getpid());
    door_inside++;
    for (size_t at = 0; at < DESCRIPTORS_MAX && atomic_load(&descriptor_count); at++) {
        struct file *file = atomic_load(&files[at]);
        if (file) {
            door_own_close(file->signal);
            door_own_close(file->drain);
            file->signal = file->drain = -1;
            file->is_void = true;
            file->users = 0;
        }
    }
    /* Before the queues: of the parent's sessions nothing may be touched here. */
    stream_after_fork();
    for (size_t at = 0; at < device_count; at++) {
        devices[at]->queue.owner = NULL;
        devices[at]->first = NULL;
        devices[at]->open_count = 0;
        queue_reset(devices[at]);
    }
    if (client) library()->camarb_client_free(client);
    client = NULL;
    learned = 0;
    door_inside--;
}

/* ── The connection ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

camarb_client *door_client(void) { return client; }

int door_connect(void) {
    static bool watches_forks;
    if (client) return 0;
    const struct library *lib = library();
    if (!lib) return -ENODEV;
    if (!watches_forks && pthread_atfork(before_fork, after_fork, in_child) == 0) {
        watches_forks = true;
        atomic_store(&owner, getpid());
    }
    knows_cameras = false;
    int error = lib->camarb_client_new(&client, NULL);
    if (error < 0) {
        client = NULL;
        return error;
    }
    char app[256];
    names_app(app, sizeof app);
    if (*app && lib->camarb_client_declare_app(client, app) == -EINVAL) {
        /* The name of a file may be other than UTF-8, which the broker requires. */
        for (char *at = app; *at; at++)
            if ((unsigned char)*at >= 0x80) *at = '_';
        lib->camarb_client_declare_app(client, app);
    }
    lib->camarb_client_watch_cameras(client);
    return 0;
}

void door_rest(void) {
    if (!client || stream_is_any()) return;
    library()->camarb_client_free(client);
    client = NULL;
}

static struct device *device_of(const char *id) {
    for (size_t at = 0; at < device_count; at++)
        if (strcmp(devices[at]->id, id) == 0) return devices[at];
    return NULL;
}

/* A camera that is a node of this machine keeps that node's number; others get the first free one. */
static int number_for(const char *id) {
    int real = nodes_number(id);
    if (real >= 0 && real <= NUMBER_MAX && !door_device(real)) return real;
    for (int number = 0; number <= NUMBER_MAX; number++)
        if (!door_device(number) && !nodes_exists(number)) return number;
    return -1;
}

static void learn_cameras(void) {
    size_t count = 0;
    const camarb_camera *cameras = library()->camarb_client_cameras(client, &count);
    for (size_t at = 0; at < device_count; at++) devices[at]->is_present = false;
    for (size_t at = 0; at < count; at++) {
        const camarb_camera *camera = &cameras[at];
        if (strlen(camera->id) >= ID_MAX) continue;
        struct device *device = device_of(camera->id);
        if (!device) {
            if (device_count == DEVICES_MAX || !camera->format_count) continue;
            int number = number_for(camera->id);
            if (number < 0 || !(device = calloc(1, sizeof *device))) continue;
            device->number = number;
            device->queue.file = -1;
            device->priority = V4L2_PRIORITY_UNSET;
            strcpy(device->id, camera->id);
            devices[device_count++] = device;
        }
        device->is_present = camera->is_present;
        strncpy(device->name, *camera->name ? camera->name : camera->id, sizeof device->name - 1);
        if (camera->format_count) formats_learn(device, camera);
        controls_learn(device, camera);
    }
}

void door_events(void) {
    const camarb_event *event;
    while (client && (event = library()->camarb_client_next_event(client))) {
        if (event->type == CAMARB_EVENT_CAMERAS_CHANGED) {
            knows_cameras = true;
            learn_cameras();
        } else if (event->type == CAMARB_EVENT_DISCONNECTED) {
            library()->camarb_client_free(client);
            client = NULL;
            stream_forget();
        } else {
            stream_event(event);
        }
    }
}

int door_learn(void) {
    int64_t now = door_now(), until = now + LEARNING_TIME_MAX;
    if (learned && now - learned < KNOWLEDGE_AGE_MAX) return has_broker ? 0 : -ENODEV;
    has_broker = false;
    if (door_connect() == 0) {
        while (client && !knows_cameras && now < until) {
            int there = library()->camarb_client_wait(client, until - now);
            /* The client's last event is taken, too. */
            door_events();
            if (there < 0) break;
            now = door_now();
        }
        has_broker = client && knows_cameras;
    }
    learned = door_now();
    door_rest();
    return has_broker ? 0 : -ENODEV;
}

struct device *door_device(int number) {
    for (size_t at = 0; at < device_count; at++)
        if (devices[at]->number == number) return devices[at];
    return NULL;
}

size_t door_devices(struct device **found, size_t most) {
    size_t count = 0;
    for (int number = 0; number <= NUMBER_MAX && count < most; number++) {
        struct device *device = door_device(number);
        if (device && device->is_present) found[count++] = device;
    }
    return count;
}

/* ── Descriptors ────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

bool door_has(int descriptor) {
    return atomic_load_explicit(&descriptor_count, memory_order_relaxed) && descriptor >= 0 && descriptor < DESCRIPTORS_MAX
        && atomic_load_explicit(&files[descriptor], memory_order_relaxed) && door_is_here();
}

bool door_is_own(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS_MAX && atomic_load_explicit(&own[descriptor], memory_order_relaxed) && door_is_here();
}

void door_own(int descriptor, bool is_own) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS_MAX) atomic_store(&own[descriptor], is_own);
}

static void file_free(struct file *file) {
    door_own_close(file->signal);
    door_own_close(file->drain);
    free(file);
}

/* The last descriptor is closed: what streams ends. */
static void release(struct file *file) {
    struct device *device = file->device;
    for (struct file **at = &device->files; *at; at = &(*at)->next)
        if (*at == file) {
            *at = file->next;
            break;
        }
    if (!file->is_void) {
        if (device->queue.owner == file) queue_reset(device);
        if (device->open_count) device->open_count--;
        if (device->first == file) device->first = NULL;
        if (file->priority == V4L2_PRIORITY_RECORD) device->priority = V4L2_PRIORITY_UNSET;
        file->is_void = true;
        /* A waiting thread wakes up, and finds the file void. */
        if (file->users) file_signal(file);
    }
    if (!file->users) file_free(file);
    door_rest();
}

static void detach(int descriptor) {
    struct file *file = atomic_exchange(&files[descriptor], NULL);
    if (!file) return;
    atomic_fetch_sub(&descriptor_count, 1);
    if (--file->descriptors == 0) release(file);
}

static bool is_same(const struct file *file, int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_dev == file->pipe_device && status.st_ino == file->pipe_inode;
}

struct file *file_take(int descriptor) {
    if (!door_has(descriptor)) return NULL;
    struct file *file = atomic_load(&files[descriptor]);
    if (!file) return NULL;
    if (!is_same(file, descriptor)) {
        /* Closed past all hooks, and perhaps another file by now. */
        detach(descriptor);
        return NULL;
    }
    file->users++;
    return file;
}

void file_give(struct file *file) {
    if (--file->users == 0 && file->descriptors == 0) file_free(file);
}

bool file_is_whole(const struct file *file) { return is_same(file, file->signal) && is_same(file, file->drain); }

void file_signal(struct file *file) {
    const struct queue *queue = &file->device->queue;
    /* Closed past all hooks, a number may be another file of the program's by now: that gets no bytes of ours, and loses none. */
    if (!file_is_whole(file)) return;
    bool streams = !file->is_void && queue->owner == file && queue->is_streaming;
    int wanted = streams ? (int)queue->ready.count : 1, there = 0;
    char bytes[BUFFERS_MAX + 1] = "";
    if (ioctl(file->signal, FIONREAD, &there) < 0) return;
    if (there < wanted && write(file->signal, bytes, (size_t)(wanted - there)) < 0) return;
    if (there > wanted) {
        size_t more = (size_t)(there - wanted);
        if (read(file->drain, bytes, more < sizeof bytes ? more : sizeof bytes) < 0) return;
    }
}

void file_event_drop(struct file *file) {
    file->event_first = (file->event_first + 1) % EVENTS_MAX;
    file->event_count--;
}

void file_event(struct file *file, const struct v4l2_event *event) {
    /* The oldest goes, as in the kernel. */
    if (file->event_count == EVENTS_MAX) file_event_drop(file);
    struct v4l2_event *kept = &file->events[(file->event_first + file->event_count++) % EVENTS_MAX];
    *kept = *event;
    kept->sequence = file->event_sequence++;
    clock_gettime(CLOCK_MONOTONIC, &kept->timestamp);
}

static int open_locked(int number, int flags) {
    int error = door_learn();
    struct device *device = door_device(number);
    if (error < 0) return error;
    if (!device) return -ESRCH;
    if (!device->is_present) return -ENODEV;
    struct file *file = calloc(1, sizeof *file);
    if (!file) return -ENOMEM;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        error = -errno;
        free(file);
        return error;
    }
    file->device = device;
    file->signal = door_raise(ends[1]);
    file->drain = door_raise(fcntl(ends[0], F_DUPFD_CLOEXEC, 3));
    struct stat status;
    if (file->signal < 0 || file->drain < 0 || ends[0] >= DESCRIPTORS_MAX || fstat(ends[0], &status) < 0
        || fcntl(ends[0], F_SETFL, flags & O_NONBLOCK) < 0) {
        close(ends[0]);
        file_free(file);
        return -EMFILE;
    }
    file->pipe_device = status.st_dev;
    file->pipe_inode = status.st_ino;
    file->descriptors = 1;
    file->priority = V4L2_PRIORITY_INTERACTIVE;
    file->next = device->files;
    device->files = file;
    device->open_count++;
    atomic_store(&files[ends[0]], file);
    atomic_fetch_add(&descriptor_count, 1);
    file_signal(file);
    return ends[0];
}

int door_open(int number, int flags) {
    int cancel = door_enter();
    int result = open_locked(number, flags);
    door_leave(cancel);
    return result;
}

bool door_close(int descriptor) {
    if (!door_has(descriptor)) return false;
    int cancel = door_enter();
    detach(descriptor);
    door_leave(cancel);
    return true;
}

void door_duplicate(int from, int to) {
    if (!door_has(from) || to < 0 || to >= DESCRIPTORS_MAX || from == to) return;
    int cancel = door_enter();
    struct file *file = file_take(from);
    if (file) {
        file->descriptors++;
        detach(to);
        atomic_store(&files[to], file);
        atomic_fetch_add(&descriptor_count, 1);
        file_give(file);
    }
    door_leave(cancel);
}

/* The file of a descriptor, with the lock; NULL, and without: none of ours. */
static struct file *enter(int descriptor, int *cancel) {
    if (!door_has(descriptor)) return NULL;
    *cancel = door_enter();
    struct file *file = file_take(descriptor);
    if (!file) door_leave(*cancel);
    return file;
}

static void leave(struct file *file, int cancel) {
    file_give(file);
    door_leave(cancel);
}

int door_number(int descriptor) {
    int cancel;
    struct file *file = enter(descriptor, &cancel);
    if (!file) return -1;
    int number = file->device->number;
    leave(file, cancel);
    return number;
}

bool door_has_event(int descriptor) {
    int cancel;
    struct file *file = enter(descriptor, &cancel);
    if (!file) return false;
    bool has = file->event_count > 0;
    leave(file, cancel);
    return has;
}

int door_ioctl(int descriptor, unsigned long request, void *argument) {
    int cancel;
    struct file *file = enter(descriptor, &cancel);
    if (!file) return -ENOSYS;
    int result = file->is_void ? -ENODEV : answer(file, request, argument, descriptor);
    leave(file, cancel);
    return result;
}

void *door_map(int descriptor, void *at, size_t length, int protection, int flags, off_t offset, int *error) {
    int cancel;
    struct file *file = enter(descriptor, &cancel);
    *error = ENOSYS;
    if (!file) return MAP_FAILED;
    struct queue *queue = &file->device->queue;
    struct stat status;
    void *mapped = MAP_FAILED;
    int found = file->is_void ? -ENODEV : queue_map(file->device, (uint64_t)offset, length);
    /* MAP_SHARED_VALIDATE has its bit, too. */
    if (!found && !(flags & MAP_SHARED)) found = -EINVAL;
    /* The program may have closed our memory's descriptor in a way that no hook sees, and have another file there. */
    if (!found && (fstat(queue->file, &status) < 0 || status.st_dev != queue->file_device || status.st_ino != queue->file_inode))
        found = -ENODEV;
    if (!found) {
        mapped = mmap(at, length, protection, flags, queue->file, offset);
        if (mapped == MAP_FAILED) found = -errno;
    }
    *error = -found;
    leave(file, cancel);
    return mapped;
}
