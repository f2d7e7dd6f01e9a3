/* Several photos of consecutive frames, each with an exposure of its own. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        int own = fcntl(files[i], F_DUPFD_CLOEXEC, 3);
        if (own < 0) {
            int number = -errno;
            call_free(call);
            return fail(client, number, NULL, "Descriptor %d cannot be passed on: %s.", files[i], strerror(-number));
        }
        bracket->files[bracket->count++] = own;
    }
    return call_ask(call);
}
