/* A session's configuration of its camera, and of its former cameras: batch over batch, as the broker takes them, so that the next one
 * can be told at once. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

/* A batch that was taken, over what was asked before. */
static void settle(camarb_client *client, camarb_configuration *configuration, const camarb_configuration *asked) {
    if (configuration_take(configuration, asked) < 0) client->is_out_of_memory = true;
    /* A ramp is something that happened, not something that is; the other two count for their batch. */
    static const char *const passing[] = {"videoZoomRampRate", "cancelVideoZoomRamp", "camera", "formatMatch"};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) configuration_remove(configuration, passing[i]);
}

static void other_clear(struct other *other) {
    free(other->camera);
    configuration_clear(&other->configuration);
    *other = (struct other){0};
}

static void forget_other(struct memory *memory, size_t at) {
    other_clear(&memory->others[at]);
    memmove(&memory->others[at], &memory->others[at + 1], (--memory->other_count - at) * sizeof memory->others[0]);
}

/* Gives up what was remembered of a camera, if anything was. */
static bool take_other(struct memory *memory, const char *camera, camarb_configuration *into) {
    for (size_t i = 0; i < memory->other_count; i++) {
        if (strcmp(memory->others[i].camera, camera) != 0) continue;
        *into = memory->others[i].configuration;
        memory->others[i].configuration = (camarb_configuration){0};
        forget_other(memory, i);
        return true;
    }
    return false;
}

/* A configuration of one camera does not bind another: that one has its own of before, and at first the session's preset.
 * A torch is off once its camera is left. */
static void leave_camera(camarb_session *session, const char *next) {
    static const char *const own[] = {"usesAudio", "sharingMode", "captureMode"}, *const torch[] = {"torchMode", "torchLevel"};
    camarb_client *client = session->client;
    struct memory *memory = &session->memory;
    camarb_configuration left = memory->configuration, wanted = {0};
    memory->configuration = (camarb_configuration){0};
    bool is_known = take_other(memory, next, &wanted);
    const char *preset = camarb_configuration_word(&left, "sessionPreset");
    if (!is_known && preset && camarb_configuration_set_word(&wanted, "sessionPreset", preset) < 0) client->is_out_of_memory = true;
    for (size_t i = 0; i < 2; i++) {
        if (configuration_move(&wanted, &left, own[i]) < 0) client->is_out_of_memory = true;
        configuration_remove(&left, torch[i]);
    }
    memory->configuration = wanted;
    if (memory->other_count == OTHERS_MAX) forget_other(memory, 0);
    char *camera = strdup(camarb_session_camera(session));
    if (camera) memory->others[memory->other_count++] = (struct other){camera, left};
    else client->is_out_of_memory = true, configuration_clear(&left);
}

void memory_forget_others(struct memory *memory) {
    while (memory->other_count > 0) other_clear(&memory->others[--memory->other_count]);
}

void memory_commit_batch(camarb_session *session) {
    struct memory *memory = &session->memory;
    if (memory->batch_depth > 0) memory->batch_depth--;
    if (memory->batch_depth > 0) return;
    memory_remember_configuration(session, &memory->batch);
    configuration_clear(&memory->batch);
}

void memory_remember_configuration(camarb_session *session, const camarb_configuration *asked) {
    camarb_client *client = session->client;
    if (session->memory.batch_depth > 0) {
        if (configuration_take(&session->memory.batch, asked) < 0) client->is_out_of_memory = true;
        return;
    }
    const char *camera = camarb_configuration_word(asked, "camera");
    bool is_switch = camera && strcmp(camera, camarb_session_camera(session)) != 0;
    if (is_switch) leave_camera(session, camera);
    settle(client, &session->memory.configuration, asked);
    /* A running session receives the configuration in force; another one when it runs. */
    if (!session->memory.is_running && !is_switch) settle(client, session->shown, asked);
    if (!session->memory.is_running && is_switch) {
        configuration_clear(session->shown);
        if (configuration_merge(session->shown, &session->memory.configuration) < 0) client->is_out_of_memory = true;
    }
    if (!camera) return;
    /* The session is there from then on. What it had asked of that camera before, the broker remembers. */
    session->wants_properties |= is_switch;
    free(session->memory.camera);
    session->memory.camera = text_copy(client, camera);
}

/* Without its preset a session keeps the format, and the rate, that the preset chose. */
static void keep_format(camarb_client *client, camarb_configuration *wanted, const struct event *event) {
    static const char *const rates[] = {"frameRate", "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration"};
    bool has_left = text_equals(camarb_configuration_word(event->told.asked, "sessionPreset"), "inputPriority")
        && text_equals(camarb_configuration_word(wanted, "sessionPreset"), "inputPriority");
    const char *format = camarb_configuration_word(event->told.in_force, "activeFormat");
    if (!has_left || !format || camarb_configuration_word(wanted, "activeFormat")) return;
    bool has_rate = false;
    double number;
    for (size_t i = 0; i < 3; i++) has_rate |= camarb_configuration_number(wanted, rates[i], &number) == 0;
    if (camarb_configuration_set_word(wanted, "activeFormat", format) < 0) client->is_out_of_memory = true;
    if (has_rate || camarb_configuration_number(event->told.in_force, rates[0], &number) < 0) return;
    if (camarb_configuration_set_number(wanted, rates[0], number) < 0) client->is_out_of_memory = true;
}

void memory_learn(struct memory *memory, camarb_client *client, const struct event *event) {
    camarb_configuration *wanted = &memory->configuration;
    const char *preset = camarb_configuration_word(event->told.in_force, "sessionPreset");
    if (!text_equals(event->told.by, "client")) return;
    /* A zoom that another format does not reach is over, and said to be 1 beside that format. */
    double zoom, said;
    if (camarb_configuration_number(wanted, "videoZoomFactor", &zoom) == 0
        && camarb_configuration_number(event->told.asked, "videoZoomFactor", &said) == 0)
        camarb_configuration_set_number(wanted, "videoZoomFactor", said);
    /* A camera that lacks the session's preset begins with its own format. */
    if (camarb_configuration_word(event->told.asked, "camera") && text_equals(preset, "inputPriority"))
        configuration_remove(wanted, "sessionPreset");
    keep_format(client, wanted, event);
}
