/* camkeeper: takes the descriptors that clients send to camarbd, looks at them and closes them.
 *
 * Looking at a file and closing it may ask whoever serves it, and wait for him without end, beyond the reach of SIGKILL. A
 * broker must never wait: so it has this done here, one job at a time, and gives up a keeper that does not come back. A
 * good file, or a microphone's socket, goes to the broker in an envelope; a copy of each is kept here until the broker has
 * closed its own, so that never the broker is the last to have it: a socket's close drops what its queue holds, too.
 *
 * It needs no privilege. It ends with the broker: at the end of its socket. */
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { broker = 3 };

static struct {
    uint64_t cookie;
    int envelope;
} kept[camarb_keeper_envelopes_max];
static size_t kept_count;

static void keep(int envelope, uint64_t cookie) {
    kept[kept_count].envelope = envelope;
    kept[kept_count++].cookie = cookie;
}

static void let_go(uint64_t cookie) {
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].cookie != cookie) continue;
        int envelope = kept[i].envelope;
        kept[i] = kept[--kept_count];
        close(envelope);
        return;
    }
}

/* All descriptors that the kernel allows in one message. */
struct catch {
    int descriptors[253];
    size_t count;
};

static ssize_t receive(int client, void *bytes, size_t count, struct catch *catch) {
    return camarb_receive_passed(client, bytes, count, catch->descriptors, 253, &catch->count);
}

/* An envelope for what was found; with it inside where it is good for something. */
static int envelope_for(int descriptor, struct camarb_keeper_found *found) {
    found->fault = camarb_check_output_file(descriptor, &found->file);
    found->microphone = camarb_check_microphone(descriptor, &found->file);
    int is_good = found->fault == camarb_file_good || found->microphone == camarb_microphone_good;
    int envelope = camarb_new_envelope(is_good ? descriptor : -1);
    if (envelope >= 0) found->cookie = camarb_socket_cookie(envelope);
    return envelope;
}

/* The answer to a catch. Envelopes are kept from here on. */
static void describe(const struct catch *catch, struct camarb_keeper_answer *answer, int *envelopes) {
    answer->brought = (uint32_t)catch->count;
    if (catch->count > camarb_keeper_descriptors_max) {
        answer->trouble = camarb_keeper_too_many;
        return;
    }
    for (size_t i = 0; i < catch->count; i++) {
        int envelope = kept_count < camarb_keeper_envelopes_max ? envelope_for(catch->descriptors[i], &answer->found[i]) : -1;
        if (envelope < 0) {
            answer->trouble = camarb_keeper_failed;
            return;
        }
        keep(envelope, answer->found[i].cookie);
        envelopes[answer->count++] = envelope;
    }
}

/* Reads the rest of the bytes, with which no descriptor may come; what comes nevertheless is in `catch`. */
static int receive_rest(int client, size_t count, struct catch *catch) {
    static char bytes[16 * 1024];
    while (count > 0) {
        ssize_t received = receive(client, bytes, count < sizeof bytes ? count : sizeof bytes, catch);
        if (received <= 0) return camarb_keeper_failed;
        if (catch->count > 0) return camarb_keeper_misplaced;
        count -= (size_t)received;
    }
    return camarb_keeper_fine;
}

static void close_all(const struct catch *catch) {
    for (size_t i = 0; i < catch->count; i++) close(catch->descriptors[i]);
}

static void take(const struct camarb_keeper_job *job, int client) {
    struct camarb_keeper_answer answer = {.kind = camarb_keeper_taken};
    struct catch first = {.count = 0}, stray = {.count = 0};
    int envelopes[camarb_keeper_descriptors_max];
    size_t left = job->bytes;
    if (job->is_beginning && left > 0) {
        char byte;
        if (receive(client, &byte, 1, &first) == 1) left--;
        else answer.trouble = camarb_keeper_failed;
    }
    if (answer.trouble == camarb_keeper_fine) answer.trouble = receive_rest(client, left, &stray);
    if (answer.trouble == camarb_keeper_fine) describe(&first, &answer, envelopes);
    size_t passed = answer.count;
    /* Before anything is closed. A broker that is gone needs no answer. */
    camarb_pass(broker, &answer, sizeof answer, envelopes, passed);
    close_all(&stray);
    close_all(&first);
}

int main(int argc, char **argv) {
    if (camarb_says_version(argc, argv, "camkeeper")) return 0;
    /* Descriptors of all users pass through here: nobody looks in. */
    prctl(PR_SET_DUMPABLE, 0);
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(broker, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET) {
        fprintf(stderr, "camkeeper is started by camarbd, with a socket as its descriptor 3.\n");
        return 2;
    }
    fcntl(broker, F_SETFD, FD_CLOEXEC);
    for (;;) {
        struct camarb_keeper_job job;
        int client = -1;
        ssize_t count = camarb_packet_receive(broker, &job, sizeof job, &client, 1);
        if (count != sizeof job) return count == 0 ? 0 : 1;
        if (job.kind == camarb_keeper_take && client >= 0) take(&job, client);
        if (job.kind == camarb_keeper_let_go) let_go(job.cookie);
        if (client >= 0) close(client);
        struct camarb_keeper_answer answer = {.kind = camarb_keeper_free};
        camarb_pass(broker, &answer, sizeof answer, NULL, 0);
    }
}
