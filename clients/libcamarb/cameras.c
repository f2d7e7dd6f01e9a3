/* Which cameras there are, as the broker's object manager shows them. */
#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_word(sd_bus_message *message, const char **word) {
    const char *read;
    int result = variant_is(message, "s");
    if (result <= 0) return result;
    result = sd_bus_message_read(message, "v", "s", &read);
    if (result < 0) return result;
    char *copy = strndup(read, TEXT_MAX);
    if (!copy) return -ENOMEM;
    free((char *)*word);
    *word = copy;
    return 1;
}

/* What is no number at all is 0. */
static int read_number(sd_bus_message *message, double *into) {
    int result = number_read(message, into);
    if (result > 0 && !isfinite(*into)) *into = 0;
    return result;
}

static int read_rate(sd_bus_message *message, double *rate) {
    int result = read_number(message, rate);
    if (result > 0) *rate = *rate < 0 ? 0 : *rate > RATE_MAX ? RATE_MAX : *rate;
    return result;
}

static int read_side(sd_bus_message *message, uint32_t *side) {
    double number;
    int result = number_read(message, &number);
    if (result > 0) *side = number >= 1 && number <= SIDE_MAX ? (uint32_t)number : 0;
    return result;
}

/* 0 where it is no place in any list. */
static int read_index(sd_bus_message *message, uint32_t *index) {
    double number;
    int result = number_read(message, &number);
    if (result > 0) *index = number >= 0 && number < FORMATS_MAX ? (uint32_t)number : 0;
    return result;
}

static int read_flag(sd_bus_message *message, bool *into) {
    int flag, result = variant_is(message, "b");
    if (result <= 0) return result;
    result = sd_bus_message_read(message, "v", "b", &flag);
    *into = result >= 0 && flag;
    return result < 0 ? result : 1;
}

static int read_format_entry(sd_bus_message *message, const char *key, void *into) {
    camarb_format *format = into;
    if (strcmp(key, "pixelFormat") == 0) {
        const char *word = NULL;
        int result = read_word(message, &word);
        if (word) strncpy(format->pixel_format, word, sizeof format->pixel_format - 1);
        free((char *)word);
        return result;
    }
    if (strcmp(key, "width") == 0) return read_side(message, &format->width);
    if (strcmp(key, "height") == 0) return read_side(message, &format->height);
    if (strcmp(key, "minFrameRate") == 0) return read_rate(message, &format->min_frame_rate);
    if (strcmp(key, "maxFrameRate") == 0) return read_rate(message, &format->max_frame_rate);
    if (strcmp(key, "videoMaxZoomFactor") == 0) return read_number(message, &format->max_zoom_factor);
    if (strcmp(key, "videoZoomFactorUpscaleThreshold") == 0) return read_number(message, &format->zoom_upscale_threshold);
    if (strcmp(key, "fieldOfView") == 0) return read_number(message, &format->field_of_view);
    if (strcmp(key, "highResolutionStillWidth") == 0) return read_side(message, &format->high_resolution_still_width);
    if (strcmp(key, "highResolutionStillHeight") == 0) return read_side(message, &format->high_resolution_still_height);
    if (strcmp(key, "isBinned") == 0) return read_flag(message, &format->is_binned);
    return 0;
}

static int read_words(sd_bus_message *message, const char *const **into) {
    int result = variant_is(message, "as");
    if (result <= 0) return result;
    words list = NULL;
    result = sd_bus_message_enter_container(message, 'v', "as");
    if (result >= 0) result = sd_bus_message_read_strv(message, &list);
    if (result >= 0) result = sd_bus_message_exit_container(message);
    if (result < 0 || words_count(list) == 0) {
        words_free(list);
        return result < 0 ? result : 1;
    }
    /* Whoever looks through them looks through a few. */
    for (size_t i = WORDS_MAX, count = words_count(list); i < count; i++) {
        free(list[i]);
        list[i] = NULL;
    }
    words_free((words)*into);
    *into = (const char *const *)list;
    return 1;
}

/* Two are a point's, three are gains'; those that are no numbers are 0. */
static int read_usual_numbers(sd_bus_message *message, camarb_control *control) {
    double numbers[NUMBERS_MAX];
    size_t count;
    int result = numbers_read(message, numbers, &count);
    if (result <= 0 || count == 0) return result;
    double *copy = calloc(count, sizeof *copy);
    if (!copy) return -ENOMEM;
    for (size_t i = 0; i < count; i++) copy[i] = isfinite(numbers[i]) ? numbers[i] : 0;
    free((double *)control->usual_numbers);
    control->usual_numbers = copy;
    control->usual_number_count = count;
    /* What gains go up to is said beside them. */
    if (count == 2) control->least = 0, control->most = 1;
    else control->least = 1;
    return 1;
}

/* What is usual is a word, a number, a flag, or some numbers; of a flag, 0 or 1. */
static int read_usual(sd_bus_message *message, camarb_control *control) {
    bool flag;
    int result = read_flag(message, &flag);
    if (result < 0) return result;
    if (result > 0) {
        control->usual = flag ? 1 : 0;
        control->least = 0;
        control->most = control->step = 1;
        return 1;
    }
    result = read_word(message, &control->usual_word);
    if (result == 0) result = read_usual_numbers(message, control);
    return result != 0 ? result : read_number(message, &control->usual);
}

static int read_control_entry(sd_bus_message *message, const char *key, void *into) {
    camarb_control *control = into;
    if (strcmp(key, "key") == 0) return read_word(message, &control->key);
    if (strcmp(key, "usual") == 0) return read_usual(message, control);
    if (strcmp(key, "least") == 0) return read_number(message, &control->least);
    if (strcmp(key, "most") == 0) return read_number(message, &control->most);
    if (strcmp(key, "step") == 0) return read_number(message, &control->step);
    if (strcmp(key, "words") == 0) return read_words(message, &control->words);
    return 0;
}

/* A list of dictionaries: so many of them as there is room for, the rest passed over.
 * list: of `size` bytes each, at most `most`. */
static int read_list(sd_bus_message *message, void **list, size_t *count, size_t size, size_t most, entry_reader each) {
    int result = variant_is(message, "aa{sv}");
    if (result <= 0) return result;
    result = sd_bus_message_enter_container(message, 'v', "aa{sv}");
    if (result >= 0) result = sd_bus_message_enter_container(message, 'a', "a{sv}");
    while (result >= 0 && (result = sd_bus_message_at_end(message, false)) == 0) {
        if (*count == most) {
            result = sd_bus_message_skip(message, "a{sv}");
            continue;
        }
        void *longer = reallocarray(*list, *count + 1, size);
        if (!longer) return -ENOMEM;
        *list = longer;
        void *last = (char *)longer + *count * size;
        memset(last, 0, size);
        ++*count;
        result = dictionary_read(message, each, last);
    }
    if (result >= 0) result = sd_bus_message_exit_container(message);
    if (result >= 0) result = sd_bus_message_exit_container(message);
    return result < 0 ? result : 1;
}

static int read_camera_entry(sd_bus_message *message, const char *key, void *into) {
    camarb_camera *camera = into;
    if (strcmp(key, "Id") == 0) return read_word(message, &camera->id);
    if (strcmp(key, "Name") == 0) return read_word(message, &camera->name);
    if (strcmp(key, "Position") == 0) return read_word(message, &camera->position);
    if (strcmp(key, "Holder") == 0) return read_word(message, &camera->holder);
    if (strcmp(key, "Present") == 0) return read_flag(message, &camera->is_present);
    if (strcmp(key, "Formats") == 0)
        return read_list(message, (void **)&camera->formats, &camera->format_count, sizeof(camarb_format), FORMATS_MAX,
            read_format_entry);
    if (strcmp(key, "DefaultFormatIndex") == 0) return read_index(message, &camera->default_format_index);
    if (strcmp(key, "Controls") == 0)
        return read_list(message, (void **)&camera->controls, &camera->control_count, sizeof(camarb_control), SETTINGS_MAX,
            read_control_entry);
    return 0;
}

/* ── A list of them ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void camera_clear(camarb_camera *camera) {
    free((char *)camera->id);
    free((char *)camera->name);
    free((char *)camera->position);
    free((char *)camera->holder);
    for (size_t i = 0; i < camera->control_count; i++) {
        free((char *)camera->controls[i].key);
        free((char *)camera->controls[i].usual_word);
        words_free((words)camera->controls[i].words);
        free((double *)camera->controls[i].usual_numbers);
    }
    free((camarb_control *)camera->controls);
    free((camarb_format *)camera->formats);
}

static void list_free(camarb_camera *list, size_t count) {
    for (size_t i = 0; i < count; i++) camera_clear(&list[i]);
    free(list);
}

/* A number as the broker writes it: the fewest digits that give it back, with a point, whatever the program's locale has there. */
static void write_rate(double rate, char *text, size_t bytes) {
    char written[64];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(written, sizeof written, "%.*g", precision, rate);
        if (strtod(written, NULL) == rate && !strchr(written, 'e')) break;
    }
    size_t count = 0;
    bool has_point = false;
    for (const char *at = written; *at && count + 1 < bytes; at++) {
        bool is_digit = *at >= '0' && *at <= '9';
        /* A locale's point may have several bytes. */
        if (is_digit || !has_point) text[count++] = is_digit ? *at : '.';
        has_point |= !is_digit;
    }
    text[count] = 0;
}

/* CameraFormat.name of Sources/Core/Vocabulary/CameraFormat.swift. */
static void name_format(camarb_format *format) {
    char rate[32];
    write_rate(format->max_frame_rate, rate, sizeof rate);
    snprintf(format->name, sizeof format->name, "%s %ux%u@%s%s", format->pixel_format, format->width, format->height, rate,
        format->is_binned ? " binned" : "");
}

/* No text of a camera is NULL, each format has its name, and the default one is there. */
static int complete(camarb_camera *camera) {
    if (camera->default_format_index >= camera->format_count) camera->default_format_index = 0;
    for (size_t i = 0; i < camera->format_count; i++) name_format((camarb_format *)&camera->formats[i]);
    const char **texts[] = {&camera->id, &camera->name, &camera->position, &camera->holder};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!*texts[i] && !(*texts[i] = strdup(""))) return -ENOMEM;
    camarb_control *controls = (camarb_control *)camera->controls;
    for (size_t i = 0; i < camera->control_count; i++) {
        if (!controls[i].key && !(controls[i].key = strdup(""))) return -ENOMEM;
        if (!controls[i].usual_word && !(controls[i].usual_word = strdup(""))) return -ENOMEM;
    }
    return 0;
}

static int by_id(const void *one, const void *other) {
    return strcmp(((const camarb_camera *)one)->id, ((const camarb_camera *)other)->id);
}

/* a{oa{sa{sv}}}: of each object, what the camera's interface says. */
static int read_objects(sd_bus_message *message, camarb_camera **list, size_t *count) {
    int result = sd_bus_message_enter_container(message, 'a', "{oa{sa{sv}}}");
    while (result >= 0 && (result = sd_bus_message_enter_container(message, 'e', "oa{sa{sv}}")) > 0) {
        result = sd_bus_message_skip(message, "o");
        if (result >= 0) result = sd_bus_message_enter_container(message, 'a', "{sa{sv}}");
        while (result >= 0 && (result = sd_bus_message_enter_container(message, 'e', "sa{sv}")) > 0) {
            const char *interface;
            result = sd_bus_message_read(message, "s", &interface);
            if (result >= 0 && strcmp(interface, CAMERA_INTERFACE) == 0 && *count < CAMERAS_MAX) {
                camarb_camera *longer = reallocarray(*list, *count + 1, sizeof **list);
                if (!longer) return -ENOMEM;
                *list = longer;
                longer[*count] = (camarb_camera){0};
                result = dictionary_read(message, read_camera_entry, &longer[(*count)++]);
                if (result >= 0) result = complete(&(*list)[*count - 1]);
            } else if (result >= 0) {
                result = sd_bus_message_skip(message, "a{sv}");
            }
            if (result >= 0) result = sd_bus_message_exit_container(message);
        }
        if (result >= 0) result = sd_bus_message_exit_container(message);
        if (result >= 0) result = sd_bus_message_exit_container(message);
    }
    return result;
}

static bool control_equals(const camarb_control *one, const camarb_control *other) {
    if (one->usual_number_count != other->usual_number_count) return false;
    for (size_t i = 0; i < one->usual_number_count; i++)
        if (one->usual_numbers[i] != other->usual_numbers[i]) return false;
    return text_equals(one->key, other->key) && one->usual == other->usual && one->least == other->least
        && one->most == other->most && one->step == other->step && text_equals(one->usual_word, other->usual_word)
        && words_equal((words)one->words, (words)other->words);
}

static bool format_equals(const camarb_format *one, const camarb_format *other) {
    return strcmp(one->pixel_format, other->pixel_format) == 0 && one->width == other->width && one->height == other->height
        && one->min_frame_rate == other->min_frame_rate && one->max_frame_rate == other->max_frame_rate
        && one->max_zoom_factor == other->max_zoom_factor && one->is_binned == other->is_binned
        && one->zoom_upscale_threshold == other->zoom_upscale_threshold && one->field_of_view == other->field_of_view
        && one->high_resolution_still_width == other->high_resolution_still_width
        && one->high_resolution_still_height == other->high_resolution_still_height;
}

static bool camera_equals(const camarb_camera *one, const camarb_camera *other) {
    if (!text_equals(one->id, other->id) || !text_equals(one->name, other->name) || !text_equals(one->position, other->position)
        || !text_equals(one->holder, other->holder) || one->is_present != other->is_present
        || one->format_count != other->format_count || one->default_format_index != other->default_format_index
        || one->control_count != other->control_count)
        return false;
    for (size_t i = 0; i < one->format_count; i++)
        if (!format_equals(&one->formats[i], &other->formats[i])) return false;
    for (size_t i = 0; i < one->control_count; i++)
        if (!control_equals(&one->controls[i], &other->controls[i])) return false;
    return true;
}

/* ── Asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void answer_watchers(camarb_client *client, const sd_bus_error *error) {
    for (struct call *call = client->calls, *next; call; call = next) {
        next = call->next;
        if (call->kind == CALL_WATCH_CAMERAS && call->was_sent)
            call_answer(call, 0, error ? error->name : NULL, error ? error->message : NULL);
    }
}

static void take_over(camarb_client *client, camarb_camera *list, size_t count) {
    struct cameras *cameras = &client->cameras;
    bool differs = !cameras->were_told || cameras->count != count;
    for (size_t i = 0; !differs && i < count; i++) differs = !camera_equals(&list[i], &cameras->list[i]);
    if (!differs) {
        list_free(list, count);
        return;
    }
    list_free(cameras->list, cameras->count);
    cameras->list = list;
    cameras->count = count;
    cameras->were_told = true;
    event_push(client, event_new(client, CAMARB_EVENT_CAMERAS_CHANGED));
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *ignored) {
    (void)ignored;
    camarb_client *client = context;
    if (!answer_is_real(answer)) return 0;
    client->cameras.slot = sd_bus_slot_unref(client->cameras.slot);
    const sd_bus_error *error = answer_error(answer);
    if (error) {
        answer_watchers(client, error);
        return 0;
    }
    camarb_camera *list = NULL;
    size_t count = 0;
    int result = read_objects(answer, &list, &count);
    if (result < 0) {
        list_free(list, count);
        if (result == -ENOMEM) client->is_out_of_memory = true;
        answer_watchers(client, &SD_BUS_ERROR_MAKE_CONST(ERROR_INVALID_ARGUMENTS, "The broker's list of cameras is none."));
        return 0;
    }
    if (count > 1) qsort(list, count, sizeof *list, by_id);
    take_over(client, list, count);
    answer_watchers(client, NULL);
    if (client->cameras.are_stale) cameras_ask(client);
    return 0;
}

void cameras_ask(camarb_client *client) {
    struct cameras *cameras = &client->cameras;
    if (client->phase != PHASE_CONNECTED) return;
    /* However often it is said that something has changed, one question is under way. */
    cameras->are_stale = cameras->slot != NULL;
    if (cameras->are_stale) return;
    sd_bus_message *message = NULL;
    int result = sd_bus_message_new_method_call(
        client->bus, &message, NULL, "/org/camarb", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
    if (result == -ENOMEM) client->is_out_of_memory = true;
    if (result >= 0) call_send(client, message, &cameras->slot, answered, client);
}

const camarb_camera *camarb_client_cameras(camarb_client *client, size_t *count) {
    if (count) *count = client ? client->cameras.count : 0;
    return client ? client->cameras.list : NULL;
}

const char *camarb_camera_key(const camarb_camera *camera, size_t index) {
    /* Those of ConfigurationKey that are no controls. */
    static const char *const all[] = {"camera", "sessionPreset", "activeFormat", "frameRate", "activeVideoMinFrameDuration",
        "activeVideoMaxFrameDuration", "videoZoomFactor", "videoZoomRampRate", "cancelVideoZoomRamp", "usesAudio", "whenBusy",
        "sharingMode", "captureMode"};
    const size_t count = sizeof all / sizeof all[0];
    if (!camera) return NULL;
    if (index < count) return all[index];
    return index - count < camera->control_count ? camera->controls[index - count].key : NULL;
}

void cameras_free(camarb_client *client) {
    list_free(client->cameras.list, client->cameras.count);
    client->cameras.list = NULL;
    client->cameras.count = 0;
}
