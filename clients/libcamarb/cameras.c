/* The cameras, from the broker's object manager. */
#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value that is no word, number, flag or list, as each reader wants it, is passed over: a newer broker's. */
typedef int (*value_reader)(sd_bus_message *message, void *into);

/* A key of a dictionary, and the field that its value goes into. */
struct field {
    const char *key;
    value_reader read;
    size_t offset;
};

static int read_field(sd_bus_message *message, const char *key, void *into, const struct field *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0) return fields[i].read(message, (char *)into + fields[i].offset);
    return 0;
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static int read_word(sd_bus_message *message, void *into) {
    const char *read, **word = into;
    int result = word_read(message, &read);
    if (result <= 0) return result;
    char *copy = strndup(read, TEXT_MAX);
    if (!copy) return -ENOMEM;
    free((char *)*word);
    *word = copy;
    return 1;
}

/* The beginning of a word, in a field of the size of camarb_format's pixel_format. */
static int read_pixel_format(sd_bus_message *message, void *into) {
    const char *read;
    int result = word_read(message, &read);
    if (result > 0) strncpy(into, read, sizeof((camarb_format *)0)->pixel_format - 1);
    return result;
}

static int read_focus_system(sd_bus_message *message, void *into) {
    const char *read;
    int result = word_read(message, &read);
    if (result > 0) strncpy(into, read, sizeof((camarb_format_facts *)0)->auto_focus_system - 1);
    return result;
}

/* NaN and the infinite numbers are 0. */
static int read_number(sd_bus_message *message, void *into) {
    double *number = into;
    int result = number_read(message, number);
    if (result > 0 && !isfinite(*number)) *number = 0;
    return result;
}

static int read_rate(sd_bus_message *message, void *into) {
    double *rate = into;
    int result = read_number(message, rate);
    if (result > 0) *rate = *rate < 0 ? 0 : *rate > RATE_MAX ? RATE_MAX : *rate;
    return result;
}

static int read_whole(sd_bus_message *message, uint64_t *into, uint64_t least, uint64_t most) {
    double number;
    int result = number_read(message, &number);
    if (result > 0) *into = number >= (double)least && number <= (double)most ? (uint64_t)number : 0;
    return result;
}

static int read_side(sd_bus_message *message, void *into) {
    uint64_t side = *(uint32_t *)into;
    int result = read_whole(message, &side, 1, SIDE_MAX);
    *(uint32_t *)into = (uint32_t)side;
    return result;
}

/* 0 where it is no place in any list. */
static int read_index(sd_bus_message *message, void *into) {
    uint64_t index = *(uint32_t *)into;
    int result = read_whole(message, &index, 0, FORMATS_MAX - 1);
    *(uint32_t *)into = (uint32_t)index;
    return result;
}

/* Up to 2 to the 53rd, which a camera does not reach by being plugged in. */
static int read_generation(sd_bus_message *message, void *into) { return read_whole(message, into, 0, UINT64_C(1) << 53); }

static int read_flag(sd_bus_message *message, void *into) { return flag_read(message, into); }

static int read_words(sd_bus_message *message, void *into) {
    int result = variant_is(message, "as");
    if (result <= 0) return result;
    char **list = NULL;
    result = sd_bus_message_enter_container(message, 'v', "as");
    if (result >= 0) result = sd_bus_message_read_strv(message, &list);
    if (result >= 0) result = sd_bus_message_exit_container(message);
    size_t count = words_count((words)list);
    if (result < 0 || count == 0) {
        words_free((words)list);
        return result < 0 ? result : 1;
    }
    /* Programs search them one by one. */
    for (size_t i = WORDS_MAX; i < count; i++) {
        free(list[i]);
        list[i] = NULL;
    }
    words_free(*(words *)into);
    *(words *)into = (words)list;
    return 1;
}

/* ── Formats and controls ───────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A format with its facts, whose lists are NULL where they are empty. */
struct known_format {
    camarb_format told;
    camarb_format_facts facts;
};

static int read_format_entry(sd_bus_message *message, const char *key, void *into) {
#define TOLD(field) offsetof(struct known_format, told.field)
#define FACT(field) offsetof(struct known_format, facts.field)
    static const struct field fields[] = {
        {"pixelFormat", read_pixel_format, TOLD(pixel_format)}, {"width", read_side, TOLD(width)},
        {"height", read_side, TOLD(height)}, {"minFrameRate", read_rate, TOLD(min_frame_rate)},
        {"maxFrameRate", read_rate, TOLD(max_frame_rate)}, {"videoMaxZoomFactor", read_number, TOLD(max_zoom_factor)},
        {"videoZoomFactorUpscaleThreshold", read_number, TOLD(zoom_upscale_threshold)},
        {"fieldOfView", read_number, TOLD(field_of_view)},
        {"highResolutionStillWidth", read_side, TOLD(high_resolution_still_width)},
        {"highResolutionStillHeight", read_side, TOLD(high_resolution_still_height)},
        {"isBinned", read_flag, TOLD(is_binned)}, {"autoFocusSystem", read_focus_system, FACT(auto_focus_system)},
        {"minISO", read_number, FACT(min_iso)}, {"maxISO", read_number, FACT(max_iso)},
        {"minExposureDuration", read_number, FACT(min_exposure_duration)},
        {"maxExposureDuration", read_number, FACT(max_exposure_duration)},
        {"videoStabilizationModes", read_words, FACT(video_stabilization_modes)},
        {"videoHDRSupported", read_flag, FACT(video_hdr_supported)}, {"assumed", read_words, FACT(assumed)},
    };
    return read_field(message, key, into, fields, COUNT(fields));
}

/* Two are a point's, three are gains'; NaN and the infinite numbers are 0. */
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
    /* The greatest gain is sent beside them. */
    if (count == 2) control->least = 0, control->most = 1;
    else control->least = 1;
    return 1;
}

/* A word, a number, a flag, which is 0 or 1, or some numbers. */
static int read_usual(sd_bus_message *message, void *into) {
    camarb_control *control = into;
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
    static const struct field fields[] = {
        {"key", read_word, offsetof(camarb_control, key)},      {"usual", read_usual, 0},
        {"least", read_number, offsetof(camarb_control, least)}, {"most", read_number, offsetof(camarb_control, most)},
        {"step", read_number, offsetof(camarb_control, step)},   {"words", read_words, offsetof(camarb_control, words)},
    };
    return read_field(message, key, into, fields, COUNT(fields));
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

/* Its place is camarb_camera's reserved[0]: programs know that structure's size. */
struct camera_facts {
    struct known_format *formats; /* as many as the camera has */
    size_t format_count;
    words object_types;
};

static struct camera_facts *facts_of(const camarb_camera *camera) { return (struct camera_facts *)(uintptr_t)camera->reserved[0]; }

static int read_formats(sd_bus_message *message, void *into) {
    struct camera_facts *facts = facts_of(into);
    return read_list(message, (void **)&facts->formats, &facts->format_count, sizeof(struct known_format), FORMATS_MAX, read_format_entry);
}

static int read_controls(sd_bus_message *message, void *into) {
    camarb_camera *camera = into;
    return read_list(message, (void **)&camera->controls, &camera->control_count, sizeof(camarb_control), SETTINGS_MAX,
        read_control_entry);
}

static int read_object_types(sd_bus_message *message, void *into) { return read_words(message, &facts_of(into)->object_types); }

static int read_camera_entry(sd_bus_message *message, const char *key, void *into) {
    static const struct field fields[] = {
        {"Id", read_word, offsetof(camarb_camera, id)}, {"Name", read_word, offsetof(camarb_camera, name)},
        {"Position", read_word, offsetof(camarb_camera, position)},
        {"Holder", read_word, offsetof(camarb_camera, holder)},
        {"Present", read_flag, offsetof(camarb_camera, is_present)},
        {"Generation", read_generation, offsetof(camarb_camera, generation)},
        {"SensorWidth", read_side, offsetof(camarb_camera, sensor_width)},
        {"SensorHeight", read_side, offsetof(camarb_camera, sensor_height)},
        {"DefaultFormatIndex", read_index, offsetof(camarb_camera, default_format_index)},
        {"AvailableMetadataObjectTypes", read_object_types, 0}, {"Formats", read_formats, 0},
        {"Controls", read_controls, 0},
    };
    return read_field(message, key, into, fields, COUNT(fields));
}

/* ── A list of them ─────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static const char *const no_words[] = {NULL};

static void camera_clear(camarb_camera *camera) {
    free((char *)camera->id);
    free((char *)camera->name);
    free((char *)camera->position);
    free((char *)camera->holder);
    for (size_t i = 0; i < camera->control_count; i++) {
        free((char *)camera->controls[i].key);
        free((char *)camera->controls[i].usual_word);
        words_free(camera->controls[i].words);
        free((double *)camera->controls[i].usual_numbers);
    }
    free((camarb_control *)camera->controls);
    free((camarb_format *)camera->formats);
    struct camera_facts *facts = facts_of(camera);
    for (size_t i = 0; facts && i < facts->format_count; i++) {
        if (facts->formats[i].facts.video_stabilization_modes != no_words) words_free(facts->formats[i].facts.video_stabilization_modes);
        if (facts->formats[i].facts.assumed != no_words) words_free(facts->formats[i].facts.assumed);
    }
    if (facts) {
        words_free(facts->object_types);
        free(facts->formats);
    }
    free(facts);
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

/* No text or list of a camera is NULL, each format has its name, and the default one is there. */
static int complete(camarb_camera *camera) {
    struct camera_facts *facts = facts_of(camera);
    if (camera->default_format_index >= facts->format_count) camera->default_format_index = 0;
    camarb_format *formats = facts->format_count ? calloc(facts->format_count, sizeof *formats) : NULL;
    if (facts->format_count && !formats) return -ENOMEM;
    camera->formats = formats;
    camera->format_count = facts->format_count;
    for (size_t i = 0; i < facts->format_count; i++) {
        struct known_format *known = &facts->formats[i];
        name_format(&known->told);
        formats[i] = known->told;
        if (!known->facts.video_stabilization_modes) known->facts.video_stabilization_modes = no_words;
        if (!known->facts.assumed) known->facts.assumed = no_words;
    }
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
                struct camera_facts *facts = calloc(1, sizeof *facts);
                if (!facts) return -ENOMEM;
                longer[*count] = (camarb_camera){.reserved = {(uintptr_t)facts}};
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
        && words_equal(one->words, other->words);
}

static bool format_equals(const struct known_format *one, const struct known_format *other) {
    const camarb_format *mine = &one->told, *theirs = &other->told;
    const camarb_format_facts *known = &one->facts, *now = &other->facts;
    return strcmp(mine->name, theirs->name) == 0 && mine->min_frame_rate == theirs->min_frame_rate
        && mine->max_frame_rate == theirs->max_frame_rate && mine->max_zoom_factor == theirs->max_zoom_factor
        && mine->zoom_upscale_threshold == theirs->zoom_upscale_threshold && mine->field_of_view == theirs->field_of_view
        && mine->high_resolution_still_width == theirs->high_resolution_still_width
        && mine->high_resolution_still_height == theirs->high_resolution_still_height
        && strcmp(known->auto_focus_system, now->auto_focus_system) == 0 && known->min_iso == now->min_iso
        && known->max_iso == now->max_iso && known->min_exposure_duration == now->min_exposure_duration
        && known->max_exposure_duration == now->max_exposure_duration && known->video_hdr_supported == now->video_hdr_supported
        && words_equal(known->video_stabilization_modes, now->video_stabilization_modes)
        && words_equal(known->assumed, now->assumed);
}

static bool camera_equals(const camarb_camera *one, const camarb_camera *other) {
    const struct camera_facts *mine = facts_of(one), *theirs = facts_of(other);
    if (!text_equals(one->id, other->id) || !text_equals(one->name, other->name) || !text_equals(one->position, other->position)
        || !text_equals(one->holder, other->holder) || one->is_present != other->is_present || one->generation != other->generation
        || one->sensor_width != other->sensor_width || one->sensor_height != other->sensor_height
        || one->format_count != other->format_count || one->default_format_index != other->default_format_index
        || one->control_count != other->control_count || !words_equal(mine->object_types, theirs->object_types))
        return false;
    for (size_t i = 0; i < one->format_count; i++)
        if (!format_equals(&mine->formats[i], &theirs->formats[i])) return false;
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
    const sd_bus_error *error = sd_bus_message_get_error(answer);
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

const camarb_format_facts *camarb_camera_format_facts(const camarb_camera *camera, size_t index) {
    const struct camera_facts *facts = camera ? facts_of(camera) : NULL;
    return facts && index < facts->format_count ? &facts->formats[index].facts : NULL;
}

const char *const *camarb_camera_metadata_object_types(const camarb_camera *camera) {
    const struct camera_facts *facts = camera ? facts_of(camera) : NULL;
    return facts && facts->object_types ? facts->object_types : no_words;
}

const char *camarb_camera_key(const camarb_camera *camera, size_t index) {
    /* The keys of ConfigurationKey that are no controls. */
    static const char *const all[] = {"camera", "sessionPreset", "activeFormat", "frameRate", "activeVideoMinFrameDuration",
        "activeVideoMaxFrameDuration", "videoZoomFactor", "videoZoomRampRate", "cancelVideoZoomRamp", "usesAudio", "whenBusy",
        "formatMatch", "sharingMode", "captureMode"};
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
