// Many authenticated connections that say nothing: they read what comes and count it.
// The D-Bus handshake and the one call (Hello) are written out, so that this costs the client next to nothing.
// usage: idle PATH CONNECTIONS; prints "ready"; a line on standard input → "MESSAGES BYTES" read so far
#include "bench.h"
#include <sys/resource.h>

// Hello, little-endian: method call, no flags, no body, serial 1; path, interface, member, destination.
static size_t hello(char *into) {
    static const struct { char code, type; const char *text; } fields[] = {
        {1, 'o', "/org/freedesktop/DBus"}, {2, 's', "org.freedesktop.DBus"},
        {3, 's', "Hello"}, {6, 's', "org.freedesktop.DBus"}};
    size_t at = 16;
    for (size_t i = 0; i < 4; i++) {
        at = (at + 7) & ~7ul;
        uint32_t length = strlen(fields[i].text);
        memcpy(into + at, (char[]){fields[i].code, 1, fields[i].type, 0}, 4);
        memcpy(into + at + 4, &length, 4);
        memcpy(into + at + 8, fields[i].text, length + 1);
        at += 8 + length + 1;
    }
    uint32_t head[4] = {'l' | 1 << 8 | 0 << 16 | 1 << 24, 0, 1, at - 16};
    memcpy(into, head, 16);
    return (at + 7) & ~7ul;
}

// The length of the message that begins here, of which at least 16 bytes are there.
static size_t message_bytes(const char *bytes) {
    uint32_t body, fields;
    memcpy(&body, bytes + 4, 4);
    memcpy(&fields, bytes + 12, 4);
    return 16 + ((fields + 7) & ~7u) + body;
}

struct connection { int socket; size_t held; char bytes[2048]; };

static int64_t messages, total_bytes;

static void take(struct connection *c) {
    ssize_t n = recv(c->socket, c->bytes + c->held, sizeof c->bytes - c->held, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) die("a connection ended");
    c->held += n;
    size_t at = 0;
    while (c->held - at >= 16) {
        size_t length = message_bytes(c->bytes + at);
        if (length > sizeof c->bytes) die("a message of %zu bytes", length);
        if (length > c->held - at) break;
        at += length;
        messages++;
        total_bytes += length;
    }
    memmove(c->bytes, c->bytes + at, c->held -= at);
}

int main(int argc, char **argv) {
    if (argc != 3) die("usage: idle PATH CONNECTIONS");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int count = number(argv[2], 0, 100000);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int epoll = new_epoll();
    struct connection *connections = calloc(count + 1, sizeof *connections);
    char greeting[512], digits[16], call[256] = {0};  // what stands between fields is zeros
    size_t call_bytes = hello(call);
    int n = snprintf(digits, sizeof digits, "%u", getuid());
    int at = snprintf(greeting + 1, sizeof greeting - 1, "AUTH EXTERNAL ") + 1;
    greeting[0] = 0;
    for (int i = 0; i < n; i++) at += sprintf(greeting + at, "%02x", digits[i]);
    at += sprintf(greeting + at, "\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n");
    memcpy(greeting + at, call, call_bytes);
    for (int i = 0; i < count; i++) {
        struct connection *c = &connections[i];
        // A full backlog makes a connect fail for a moment: the broker is busy with the ones before.
        for (int tries = 0; (c->socket = connect_to(argv[1])) < 0; tries++) {
            if (tries == 2000) die("connect %s: %s", argv[1], strerror(errno));
            usleep(1000);
        }
        write_whole(c->socket, greeting, at + call_bytes);
        // Two lines of the handshake, then the answer to Hello.
        int lines = 0;
        char byte, line[64];
        for (int length = 0; lines < 2;) {
            if (!read_whole(c->socket, &byte, 1)) die("connection %d was closed during the handshake", i + 1);
            if (byte == '\n') {
                line[length < 63 ? length : 63] = 0;
                if (strncmp(line, "OK", 2) != 0 && strncmp(line, "AGREE", 5) != 0) die("the broker said \"%s\"", line);
                lines++, length = 0;
            } else if (length < 63) {
                line[length++] = byte;
            }
        }
        char *reply = c->bytes;
        if (!read_whole(c->socket, reply, 16) || message_bytes(reply) > sizeof c->bytes) die("no answer to Hello");
        if (!read_whole(c->socket, reply + 16, message_bytes(reply) - 16)) die("no answer to Hello");
        if (reply[1] != 2) die("Hello was refused");
        if (watch(epoll, c->socket, i) < 0) die("epoll_ctl: %s", strerror(errno));
    }
    watch(epoll, 0, count);
    puts("ready"), fflush(stdout);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll, events, 64, -1), asked = 0;
        for (int e = 0; e < ready; e++) {
            if (events[e].data.u64 == (uint64_t)count) asked = 1;
            else take(&connections[events[e].data.u64]);
        }
        // The question is answered when nothing else is left to read.
        if (asked && ready == 1) {
            char ask[64];
            if (read(0, ask, sizeof ask) <= 0) return 0;
            printf("%ld %ld\n", (long)messages, (long)total_bytes), fflush(stdout);
        }
    }
}
