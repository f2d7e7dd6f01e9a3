/* Brackets of photos; options, sound and metadata of recordings. */
#include "inside.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Options that count something are whole numbers on the wire, and numbers like all others in a configuration. */
static bool is_count(const char *key) {
    static const char *const counts[] = {"maxBytes", "minFreeBytes", "bitRate"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(counts[i], key) == 0) return true;
    return false;
}

static const char metadata_prefix[] = "metadata.";

/* The kind of metadata that an option names, or NULL. */
static const char *kind_of(const struct setting *setting) {
    size_t length = sizeof metadata_prefix - 1;
    return setting->kind == 's' && strncmp(setting->key, metadata_prefix, length) == 0 ? setting->key + length : NULL;
}

/* A number that is no count is sent as it is, and refused with the broker's sentence. */
static int append_option(sd_bus_message *message, const struct setting *setting) {
    /* 2 to the 64th: the first double that is too great. */
    bool fits = setting->number >= 0 && setting->number < 18446744073709551616.0
        && setting->number == (double)(uint64_t)setting->number;
    if (setting->kind == 'd' && is_count(setting->key) && fits)
        return sd_bus_message_append(message, "{sv}", setting->key, "t", (uint64_t)setting->number);
    return setting_append(message, setting);
}

/* The kinds of metadata that are to be kept, as one option. */
static int append_metadata(sd_bus_message *message, const camarb_configuration *options) {
    int result = sd_bus_message_open_container(message, 'e', "sv");
    if (result >= 0) result = sd_bus_message_append(message, "s", "metadata");
    if (result >= 0) result = sd_bus_message_open_container(message, 'v', "a{sv}");
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{sv}");
    for (size_t i = 0; result >= 0 && i < options->count; i++) {
        const char *kind = kind_of(&options->settings[i]);
        if (kind) result = sd_bus_message_append(message, "{sv}", kind, "s", options->settings[i].word);
    }
    for (int depth = 0; result >= 0 && depth < 3; depth++) result = sd_bus_message_close_container(message);
    return result;
}

int recording_options_append(sd_bus_message *message, const camarb_configuration *options) {
    bool has_metadata = false;
    int result = sd_bus_message_open_container(message, 'a', "{sv}");
    for (size_t i = 0; result >= 0 && options && i < options->count; i++) {
        if (kind_of(&options->settings[i])) has_metadata = true;
        else result = append_option(message, &options->settings[i]);
    }
    if (result >= 0 && has_metadata) result = append_metadata(message, options);
    return result < 0 ? result : sd_bus_message_close_container(message);
}

int microphone_append(sd_bus_message *message, const struct call *call) {
    return sd_bus_message_append(message, "ha{sv}", call->file, 2, "sampleRate", "u", call->sample_rate, "channels", "u",
        call->channels);
}

int group_append(sd_bus_message *message, const struct call *call) {
    int result = sd_bus_message_append(message, "sx", call->word, call->time);
    return result < 0 ? result : sd_bus_message_append_strv(message, (char **)call->items);
}

camarb_call camarb_session_attach_microphone(camarb_session *session, int socket, uint32_t sample_rate, uint32_t channels) {
    if (!session) return -EINVAL;
    int result;
    struct call *call = call_make(session->client, session, CALL_ATTACH_MICROPHONE, &result);
    if (!call) return result;
    result = call_duplicate(call, socket, &call->file);
    if (result < 0) return result;
    call->sample_rate = sample_rate;
    call->channels = channels;
    return call_ask(call);
}

/* A packet can be used only when all of it is there, and sound that comes 250 ms after the picture is silence. */
#define PACKETS_PER_SECOND 20
#define RATE_LEAST 8000
#define SOUND_RATE_MAX 96000
#define CHANNELS_MAX 2
#define PACKET_WAIT_MS 20 /* a call waits so long for room, for each packet */

/* 0, or why the packet was not sent: -EAGAIN where there was no room in time, -EPIPE where there will be none. */
static int packet_send(int socket, const void *packet, size_t bytes) {
    struct pollfd room = {.fd = socket, .events = POLLOUT};
    for (bool has_waited = false;; has_waited = true) {
        if (send(socket, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return 0;
        if (errno == ENOBUFS || errno == ENOMEM) return -EAGAIN;
        if (errno != EAGAIN) return -EPIPE;
        if (has_waited) return -EAGAIN;
        poll(&room, 1, PACKET_WAIT_MS);
    }
}

int camarb_microphone_write(
    int socket, uint32_t sample_rate, uint32_t channels, const int16_t *samples, size_t frames, int64_t captured) {
    if (!samples || sample_rate < RATE_LEAST || sample_rate > SOUND_RATE_MAX || channels < 1 || channels > CHANNELS_MAX) return -EINVAL;
    struct {
        int64_t captured;
        uint32_t frames, zero;
        int16_t samples[SOUND_RATE_MAX / PACKETS_PER_SECOND * CHANNELS_MAX];
    } packet;
    int outcome = 0;
    for (size_t first = 0, most = sample_rate / PACKETS_PER_SECOND; first < frames; first += most) {
        size_t count = frames - first < most ? frames - first : most;
        packet.captured = (int64_t)htole64((uint64_t)(captured + (int64_t)(first * (uint64_t)SECOND / sample_rate)));
        packet.frames = htole32((uint32_t)count);
        packet.zero = 0;
        for (size_t i = 0; i < count * channels; i++)
            packet.samples[i] = (int16_t)htole16((uint16_t)samples[first * channels + i]);
        int result = packet_send(socket, &packet, offsetof(typeof(packet), samples) + count * channels * sizeof *samples);
        if (result == -EPIPE) return result;
        if (result < 0) outcome = result;
    }
    return outcome;
}

/* A copy of a group's items, whole: what is too long is the broker's to refuse. NULL: there is no memory. */
static words copy_items(const char *const *items, size_t count) {
    const char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(items[i]))) {
            words_free(copy);
            return NULL;
        }
    return copy;
}

/* A broker ends a connection that sends a message of more than 128 KiB; what is less, and too long for a group, it refuses. */
#define GROUP_BYTES_MAX (124 * 1024)

camarb_call camarb_session_append_metadata(
    camarb_session *session, const char *kind, int64_t time, const char *const *items, size_t count) {
    if (!session || !kind || (!items && count > 0)) return -EINVAL;
    camarb_client *client = session->client;
    size_t bytes = 0;
    bool is_text = text_is_utf8(kind);
    for (size_t i = 0; i < count; i++) {
        if (!items[i]) return -EINVAL;
        is_text = is_text && text_is_utf8(items[i]);
        /* With its length before it and zeros behind it, up to the next multiple of four. */
        bytes += 4 + (strlen(items[i]) / 4 + 1) * 4;
        if (bytes > GROUP_BYTES_MAX)
            return fail(client, -E2BIG, NULL, "A group of metadata with %zu items is too long for one message; it may have 64 KiB.", count);
    }
    if (!is_text) return fail(client, -EINVAL, NULL, "A kind of metadata and its items are texts: they take UTF-8.");
    int result;
    struct call *call = call_make(client, session, CALL_APPEND_METADATA, &result);
    if (!call) return result;
    call->word = strdup(kind);
    call->time = time;
    call->items = copy_items(items, count);
    if (!call->word || !call->items) client->is_out_of_memory = true;
    return call_ask(call);
}

/* ── Brackets: photos of consecutive frames, each with an exposure of its own ────────────────────────────────────────────────── */

/* As the wire calls them, in the order of a bracket's values. */
static const char *const keys[] = {"exposureTargetBiases", "exposureDurations", "isos"};
_Static_assert(sizeof keys / sizeof keys[0] == BRACKET_KEYS, "each has its values");

void bracket_free(struct bracket *bracket) {
    for (size_t i = 0; bracket && i < bracket->count; i++) close(bracket->files[i]);
    free(bracket);
}

static int option_append(sd_bus_message *message, const char *key, const double *values, size_t count) {
    int result = sd_bus_message_open_container(message, 'e', "sv");
    if (result >= 0) result = sd_bus_message_append(message, "s", key);
    if (result >= 0) result = sd_bus_message_open_container(message, 'v', "ad");
    if (result >= 0) result = sd_bus_message_append_array(message, 'd', values, count * sizeof *values);
    for (int depth = 0; result >= 0 && depth < 2; depth++) result = sd_bus_message_close_container(message);
    return result;
}

int bracket_append(sd_bus_message *message, const struct bracket *bracket) {
    int result = sd_bus_message_open_container(message, 'a', "h");
    for (size_t i = 0; result >= 0 && i < bracket->count; i++) result = sd_bus_message_append(message, "h", bracket->files[i]);
    if (result >= 0) result = sd_bus_message_close_container(message);
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{sv}");
    for (size_t key = 0; result >= 0 && key < BRACKET_KEYS; key++)
        if (bracket->has[key]) result = option_append(message, keys[key], bracket->values[key], bracket->count);
    return result < 0 ? result : sd_bus_message_close_container(message);
}

/* The photos' numbers follow each other: the first. 0, which is no photo's, where none comes. */
uint64_t bracket_read(sd_bus_message *answer) {
    const void *numbers;
    size_t bytes;
    return sd_bus_message_read_array(answer, 't', &numbers, &bytes) > 0 && bytes >= sizeof(uint64_t) ? *(const uint64_t *)numbers : 0;
}

camarb_call camarb_session_capture_bracket(
    camarb_session *session, const int *files, size_t count, const double *biases, const double *durations, const double *isos) {
    if (!session || !files) return -EINVAL;
    camarb_client *client = session->client;
    if (count < 1 || count > CAMARB_BRACKET_MAX)
        return fail(client, -EINVAL, NULL, "A bracket has 1 to %d photos and as many files, and not %zu.", CAMARB_BRACKET_MAX, count);
    int result;
    struct call *call = call_make(client, session, CALL_BRACKET, &result);
    if (!call) return result;
    call->bracket = calloc(1, sizeof *call->bracket);
    if (!call->bracket) {
        client->is_out_of_memory = true;
        return call_ask(call);
    }
    struct bracket *bracket = call->bracket;
    const double *const values[] = {biases, durations, isos};
    for (size_t key = 0; key < BRACKET_KEYS; key++) {
        bracket->has[key] = values[key] != NULL;
        if (values[key]) memcpy(bracket->values[key], values[key], count * sizeof *values[key]);
    }
    for (size_t i = 0; i < count; i++) {
        result = call_duplicate(call, files[i], &bracket->files[bracket->count]);
        if (result < 0) return result;
        bracket->count++;
    }
    return call_ask(call);
}
