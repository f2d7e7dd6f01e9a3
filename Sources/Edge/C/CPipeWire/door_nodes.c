/* The consumers' pictures: streams of ours, each with slates or with frames. Swapping the two touches neither links nor buffers. */
#include "door_inside.h"

#include "camarb-slate.h"
#include "camarb.h"
#include "usual-rates.h"

#include <errno.h>
#include <math.h>
#include <spa/param/video/format-utils.h>
#include <spa/utils/keys.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Frames a second of a slate: at the most, as nothing moves in it; and at the least, so that the reason is shown within a second. */
#define SLATE_RATE_MAX 30
#define SLATE_RATE_MIN 1
/* A side that no camera has; the square of one still fits. */
#define SIDE_MAX 16384
/* Buffers of a stream: one with us, one with the program, one on its way, one to spare. */
#define BUFFERS_USUAL 4
/* Of the pictures of all streams, so that a program with many streams ends no agent (its unit's MemoryMax): some twenty streams of
 * 1280x720. PipeWire reports the error to a program that would need more, which sees nothing. */
#define PICTURE_BYTES_MAX (256u << 20)
/* Of one program, a quarter, so that no three of them leave a fourth nothing: five streams of 1280x720, or two of 1920x1080. */
#define PICTURE_BYTES_OF_ONE_MAX (PICTURE_BYTES_MAX / 4)
/* A program that gives no buffer back for this long has stopped looking, and keeps the camera from nobody. */
#define STALL_TIME 5000000000
/* Our cameras are the default before other programs': their slates, at least, show a reason. */
#define PRIORITY 2000

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* --- Turns --- */

static void tell(struct node *node, enum camarb_door_event_kind kind) {
    if (node->consumer == PW_ID_ANY) return;
    /* A consumer that is overheard sees no pictures, and so it keeps the camera from nobody. */
    if (kind == camarb_door_runs && node->is_overheard) return;
    camarb_door_tell(
        node->door, (struct camarb_door_event){
                        .kind = kind,
                        .consumer = node->consumer,
                        .camera = node->camera->number,
                        .width = node->width,
                        .height = node->height,
                        .rate = node->rate,
                    });
}

static void set_timer(struct node *node);
static void cover_frames(struct node *node);

/* Asks for a turn, in which `process` writes. PipeWire skips it while the program has given no buffer back; slates go on asking. */
static void take_turn(struct node *node) {
    camarb_library.stream_trigger_process(node->stream);
    if (node->is_stalled || now() - node->last_taken < STALL_TIME) return;
    node->is_stalled = true;
    node->is_live = false;
    cover_frames(node);
    set_timer(node);
    tell(node, camarb_door_pauses);
}

/* --- Slates --- */

static void draw_slate(struct node *node) {
    if (!node->slate) return;
    uint8_t *planes[3];
    uint32_t strides[3];
    camarb_pixels_planes(node->pixels, node->width, node->height, node->slate, planes, strides);
    const camarb_slate said = {
        .kind = (enum camarb_slate_kind)node->slate_kind,
        .camera = node->camera->name,
        .reason = node->slate_reason,
        .interrupter = node->slate_interrupter,
        .shows_interrupter = node->door->slates_show_names,
    };
    const camarb_slate overheard = {
        .kind = CAMARB_SLATE_NO_ACCESS,
        .camera = node->camera->name,
        .reason = "Another program was linked to this app's pictures. Close the camera in the app, and open it again.",
        .interrupter = "",
    };
    const camarb_slate slate = node->is_overheard ? overheard : said;
    if (camarb_slate_draw(&slate, camarb_pixels_fourcc(node->pixels), node->width, node->height, planes, strides) < 0)
        memset(node->slate, 16, camarb_pixels_bytes(node->pixels, node->width, node->height)); /* Smaller than any text. */
    node->slate_number++;
}

/* No frame stays where the program finds it: neither in a buffer that it has not looked at yet, nor in one that waits for the next turn. */
static void cover_frames(struct node *node) {
    if (!node->slate) return;
    uint32_t bytes = camarb_pixels_bytes(node->pixels, node->width, node->height);
    for (uint32_t at = 0; at < node->buffer_count; at++) {
        struct pw_buffer *buffer = node->buffers[at];
        struct spa_data *data = &buffer->buffer->datas[0];
        if (buffer->user_data == (void *)node->slate_number || !data->data || data->maxsize < bytes) continue;
        memcpy(data->data, node->slate, bytes);
        buffer->user_data = (void *)node->slate_number;
    }
}

/* Slates come by the clock while nothing else does. */
static void set_timer(struct node *node) {
    struct timespec first = {0}, interval = {0};
    if (node->is_running && !node->is_live) {
        double rate = node->rate > 0 && node->rate < SLATE_RATE_MAX ? fmax(node->rate, SLATE_RATE_MIN) : SLATE_RATE_MAX;
        int64_t nanoseconds = (int64_t)(1e9 / rate);
        interval.tv_sec = nanoseconds / 1000000000;
        interval.tv_nsec = nanoseconds % 1000000000;
        first.tv_nsec = 1;
    }
    pw_loop_update_timer(node->door->loop, node->timer, &first, &interval, false);
}

static void slate_due(void *data, uint64_t times) {
    (void)times;
    struct node *node = data;
    if (node->is_running && !node->is_live) take_turn(node);
}

void camarb_node_show_slate(struct node *node, int kind, const char *reason, const char *interrupter) {
    node->slate_kind = kind;
    snprintf(node->slate_reason, sizeof node->slate_reason, "%s", reason);
    snprintf(node->slate_interrupter, sizeof node->slate_interrupter, "%s", interrupter);
    draw_slate(node);
    node->is_live = false;
    cover_frames(node);
    set_timer(node);
}

/* --- Pictures --- */

void camarb_node_show_frame(struct node *node, const struct camarb_door_picture *picture) {
    if (!node->is_running || !node->has_format || node->is_overheard) return;
    /* Another client may have set the camera to a higher rate than this program asked for. */
    if (node->is_live && node->rate > 0 && picture->captured - node->last_frame < 0.75e9 / node->rate) return;
    node->last_frame = picture->captured;
    if (!node->is_live) {
        node->is_live = true;
        set_timer(node);
    }
    node->picture = picture;
    take_turn(node);
    /* Also where the program did not take it: the picture is valid for this call only. */
    node->picture = NULL;
}

static void write_buffer(struct node *node, struct pw_buffer *buffer) {
    struct spa_data *data = &buffer->buffer->datas[0];
    uint32_t bytes = camarb_pixels_bytes(node->pixels, node->width, node->height);
    bool fits = data->data && data->maxsize >= bytes;
    if (fits && node->picture) {
        camarb_pixels_convert(node->picture, node->pixels, node->width, node->height, data->data);
        buffer->user_data = NULL;
    } else if (fits && buffer->user_data != (void *)node->slate_number) {
        memcpy(data->data, node->slate, bytes);
        buffer->user_data = (void *)node->slate_number;
    }
    data->chunk->offset = 0;
    data->chunk->size = fits ? bytes : 0;
    data->chunk->stride = (int32_t)camarb_pixels_stride(node->pixels, node->width);
    data->chunk->flags = 0;
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof *header);
    if (header)
        *header = (struct spa_meta_header){
            .pts = node->picture ? node->picture->captured : now(), .seq = node->sequence};
    node->sequence++;
}

static void process(void *data) {
    struct node *node = data;
    /* A frame whose turn did not come is gone; a slate is written only where slates are shown. */
    if (!node->has_format || !node->slate || (node->is_live && !node->picture)) return;
    struct pw_buffer *buffer = camarb_library.stream_dequeue_buffer(node->stream);
    if (!buffer) return;
    node->last_taken = now();
    if (node->is_stalled) tell(node, camarb_door_runs);
    node->is_stalled = false;
    write_buffer(node, buffer);
    camarb_library.stream_queue_buffer(node->stream, buffer);
}

/* --- Others than the consumer --- */

void camarb_node_overheard(struct node *node) {
    if (node->is_overheard) return;
    node->is_overheard = true;
    node->is_live = false;
    draw_slate(node);
    cover_frames(node);
    set_timer(node);
    tell(node, camarb_door_overheard);
    tell(node, camarb_door_pauses);
}

void camarb_node_heard_no_more(struct node *node) {
    if (!node->is_overheard || node->stranger_count > 0 || node->buffer_count > 0) return;
    node->is_overheard = false;
    draw_slate(node);
    if (node->is_running && !node->is_stalled) tell(node, camarb_door_runs);
}

/* --- The stream --- */

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state new, const char *error) {
    (void)old, (void)error;
    struct node *node = data;
    bool is_running = new == PW_STREAM_STATE_STREAMING;
    if (is_running == node->is_running) return;
    node->is_running = is_running;
    /* The next picture or slate decides. */
    if (!is_running) {
        node->is_live = false;
        cover_frames(node);
    }
    node->is_stalled = false;
    node->last_taken = now();
    set_timer(node);
    tell(node, is_running ? camarb_door_runs : camarb_door_pauses);
}

static void give_room_back(struct node *node) {
    node->door->picture_bytes -= node->picture_bytes;
    node->picture_bytes = 0;
    free(node->slate);
    node->slate = NULL;
}

/* The bytes of one program's streams. */
static size_t picture_bytes_of(const struct camarb_door *door, uint64_t owner) {
    size_t bytes = 0;
    for (int at = 0; at < CAMARB_DOOR_CONSUMERS_MAX; at++) {
        const struct node *node = door->consumers[at] ? door->consumers[at]->node : NULL;
        if (node && node->owner == owner) bytes += node->picture_bytes;
    }
    return bytes;
}

/* For its buffers, as many as the program may ask for, and its slate. */
static bool make_room(struct node *node) {
    give_room_back(node);
    size_t picture = camarb_pixels_bytes(node->pixels, node->width, node->height), all = picture * (BUFFERS_MAX + 1);
    /* A doorway has one set of buffers for everybody, and is what a refused program gets. */
    if (node->consumer == PW_ID_ANY) all = 0;
    size_t own = all > 0 ? picture_bytes_of(node->door, node->owner) : 0;
    if (own + all > PICTURE_BYTES_OF_ONE_MAX) {
        camarb_library.stream_set_error(
            node->stream, -ENOSPC, "this program sees %zu MiB of camera pictures, and one may see %u", own >> 20,
            PICTURE_BYTES_OF_ONE_MAX >> 20);
        return false;
    }
    if (node->door->picture_bytes + all > PICTURE_BYTES_MAX) {
        camarb_library.stream_set_error(
            node->stream, -ENOSPC, "programs see %zu MiB of camera pictures, and may see %u", node->door->picture_bytes >> 20,
            PICTURE_BYTES_MAX >> 20);
        return false;
    }
    node->slate = malloc(picture);
    if (!node->slate) return false;
    node->door->picture_bytes += node->picture_bytes = all;
    return true;
}

static bool take_format(struct node *node, const struct spa_pod *param) {
    struct spa_video_info_raw format;
    if (spa_format_video_raw_parse(param, &format) < 0) return false;
    switch (format.format) {
    case SPA_VIDEO_FORMAT_NV12: node->pixels = camarb_pixels_nv12; break;
    case SPA_VIDEO_FORMAT_YUY2: node->pixels = camarb_pixels_yuy2; break;
    case SPA_VIDEO_FORMAT_I420: node->pixels = camarb_pixels_i420; break;
    default: return false;
    }
    node->width = format.size.width;
    node->height = format.size.height;
    node->rate = format.framerate.denom ? (double)format.framerate.num / format.framerate.denom : 0;
    if (node->width < 2 || node->height < 2 || node->width > SIDE_MAX || node->height > SIDE_MAX) return false;
    if (node->width % 2 || node->height % 2) return false;
    return make_room(node);
}

static void offer_buffers(struct node *node) {
    uint8_t room[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
    const struct spa_pod *params[] = {
        spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
            SPA_POD_CHOICE_RANGE_Int(BUFFERS_USUAL, 2, BUFFERS_MAX), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
            SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)camarb_pixels_bytes(node->pixels, node->width, node->height)),
            SPA_PARAM_BUFFERS_stride, SPA_POD_Int((int)camarb_pixels_stride(node->pixels, node->width)),
            SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd)),
        spa_pod_builder_add_object(
            &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
            SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_header))),
    };
    camarb_library.stream_update_params(node->stream, params, 2);
}

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
    struct node *node = data;
    if (id != SPA_PARAM_Format) return;
    node->has_format = param && take_format(node, param);
    if (!node->has_format) return give_room_back(node);
    draw_slate(node);
    offer_buffers(node);
}

/* A new buffer is empty. */
static void buffer_added(void *data, struct pw_buffer *buffer) {
    struct node *node = data;
    buffer->user_data = NULL;
    if (node->buffer_count < BUFFERS_MAX) node->buffers[node->buffer_count++] = buffer;
}

static void buffer_removed(void *data, struct pw_buffer *buffer) {
    struct node *node = data;
    for (uint32_t at = 0; at < node->buffer_count; at++)
        if (node->buffers[at] == buffer) {
            node->buffers[at] = node->buffers[--node->buffer_count];
            break;
        }
    camarb_node_heard_no_more(node);
}

static const struct pw_stream_events stream_events = {
    .version = PW_VERSION_STREAM_EVENTS,
    .state_changed = state_changed,
    .param_changed = param_changed,
    .add_buffer = buffer_added,
    .remove_buffer = buffer_removed,
    .process = process,
};

/* --- Formats --- */

/* Each size in each format by itself, as a camera's own node has them: browsers read no choices of sizes. */
#define FORMATS_MAX (CAMARB_DOOR_SIZES_MAX * camarb_pixels_count)

/* Frames a second: faster ones are no program's wish there. */
#define RATE_MAX 60

static void add_rate(struct spa_pod_builder *builder, double rate) {
    struct spa_fraction fraction;
    camarb_frame_rate_fraction(rate, &fraction.num, &fraction.denom);
    spa_pod_builder_fraction(builder, fraction.num, fraction.denom);
}

/* The default rate first, as in every choice, and again among the rates that there are. */
static void add_rates(struct spa_pod_builder *builder, double most) {
    double preferred = fmin(most, 30);
    add_rate(builder, preferred);
    add_rate(builder, preferred);
    /* Programs with whole rates alone find the next one: the camera then runs at its own. */
    add_rate(builder, round(preferred));
    if (most >= 59 && most < 60) add_rate(builder, most);
    for (size_t at = 0; at < CAMARB_USUAL_RATES_COUNT; at++)
        if (camarb_usual_rates[at] <= fmin(most, RATE_MAX)) add_rate(builder, camarb_usual_rates[at]);
}

static const struct spa_pod *format_of(struct spa_pod_builder *builder, const struct camarb_door_size *size, uint32_t format) {
    struct spa_rectangle rectangle = SPA_RECTANGLE(size->width, size->height);
    struct spa_pod_frame object, choice;
    spa_pod_builder_push_object(builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(
        builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
        SPA_FORMAT_VIDEO_format, SPA_POD_Id(format), SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&rectangle), 0);
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_framerate, 0);
    spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
    add_rates(builder, size->rate_max);
    spa_pod_builder_pop(builder, &choice);
    return spa_pod_builder_pop(builder, &object);
}

static int connect(struct node *node) {
    static const uint32_t formats[camarb_pixels_count] = {
        [camarb_pixels_nv12] = SPA_VIDEO_FORMAT_NV12,
        [camarb_pixels_yuy2] = SPA_VIDEO_FORMAT_YUY2,
        [camarb_pixels_i420] = SPA_VIDEO_FORMAT_I420,
    };
    uint8_t room[FORMATS_MAX * 256];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
    const struct spa_pod *params[FORMATS_MAX];
    uint32_t count = 0;
    for (uint32_t size = 0; size < node->camera->size_count; size++)
        for (uint32_t format = 0; format < camarb_pixels_count; format++) {
            params[count] = format_of(&builder, &node->camera->sizes[size], formats[format]);
            if (params[count]) count++;
        }
    return camarb_library.stream_connect(
        node->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS, params, count);
}

void camarb_node_name(const struct node *node, char *name, size_t size) {
    if (node->consumer == PW_ID_ANY)
        snprintf(name, size, "%s", node->camera->node_name);
    else
        snprintf(name, size, "%s.for-%u", node->camera->node_name, node->consumer);
}

uint32_t camarb_node_number(const struct node *node) { return camarb_library.stream_get_node_id(node->stream); }

static struct pw_properties *properties_of(const struct node *node) {
    char text[NAME_ROOM + 32];
    struct pw_properties *properties = camarb_library.properties_new(
        PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_NODE_DESCRIPTION, node->camera->name, NULL);
    if (!properties) return NULL;
    camarb_node_name(node, text, sizeof text);
    camarb_library.properties_set(properties, PW_KEY_NODE_NAME, text);
    if (node->consumer == PW_ID_ANY) {
        camarb_library.properties_set(properties, PW_KEY_MEDIA_CLASS, "Video/Source");
        camarb_library.properties_set(properties, PW_KEY_MEDIA_ROLE, "Camera");
        camarb_library.properties_set(properties, "node.camarb.doorway", "true");
        /* The one property for it that programs know (GNOME's Snapshot, GStreamer's device monitor); it does not make a camera
         * libcamera's. */
        camarb_library.properties_set(properties, SPA_KEY_API_LIBCAMERA_LOCATION, node->camera->location);
        snprintf(text, sizeof text, "%u", node->camera->number < PRIORITY ? PRIORITY - node->camera->number : 1);
        camarb_library.properties_set(properties, PW_KEY_PRIORITY_SESSION, text);
        return properties;
    }
    camarb_library.properties_set(properties, PW_KEY_MEDIA_CLASS, CAMARB_PRIVATE_CLASS);
    /* For the script: the doorway of a program that names this node as its target. */
    camarb_library.properties_set(properties, "node.camarb.camera", node->camera->node_name);
    snprintf(text, sizeof text, "%u", node->consumer);
    camarb_library.properties_set(properties, "node.camarb.consumer", text);
    return properties;
}

struct node *camarb_node_new(struct camarb_door *door, const struct camera *camera, uint32_t consumer) {
    struct node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->door = door;
    node->camera = camera;
    node->consumer = consumer;
    node->slate_kind = CAMARB_SLATE_WAITING;
    node->timer = pw_loop_add_timer(door->loop, slate_due, node);
    struct pw_properties *properties = properties_of(node);
    if (node->timer && properties) node->stream = camarb_library.stream_new(door->core, camera->node_name, properties);
    if (node->stream) {
        camarb_library.stream_add_listener(node->stream, &node->listener, &stream_events, node);
        if (connect(node) == 0) return node;
    }
    camarb_node_free(node);
    errno = EIO;
    return NULL;
}

void camarb_node_free(struct node *node) {
    if (!node) return;
    camarb_links_forget(node);
    if (node->stream) {
        spa_hook_remove(&node->listener);
        camarb_library.stream_destroy(node->stream);
    }
    if (node->timer) pw_loop_destroy_source(node->door->loop, node->timer);
    give_room_back(node);
    free(node);
}
