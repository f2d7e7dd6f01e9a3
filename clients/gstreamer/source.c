/* The element: its properties, its states, and its streaming thread. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "camarbsrc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

GST_DEBUG_CATEGORY(camarb_debug);
#define GST_CAT_DEFAULT camarb_debug

G_DEFINE_TYPE(CamarbSrc, camarb_src, GST_TYPE_PUSH_SRC)

enum {
    PROP_0, PROP_CAMERA, PROP_ADDRESS, PROP_APP, PROP_DECLARATION, PROP_CONFIGURATION, PROP_SLATE, PROP_IS_INTERRUPTED,
    PROP_CAMERA_NAME, PROP_FORMAT, PROP_COUNT
};
static GParamSpec *properties[PROP_COUNT];

#define FRAMES_KEPT 4 /* libcamarb keeps so many untaken frames, and drops the oldest then */

static GstStaticPadTemplate source_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS("video/x-raw, format = (string) NV12, width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], "
                    "framerate = (fraction) [ 0/1, 1000/1 ]"));

/* ── Properties ─────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A session that is there takes it at once; one that is not there yet begins with it. */
static void configure(CamarbSrc *self, const GstStructure *settings) {
    camarb_configuration *wanted = settings_read(settings);
    if (!wanted) {
        GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS,
            ("The property configuration takes words, numbers, booleans, and arrays of two or three numbers."), (NULL));
        return;
    }
    g_mutex_lock(&self->lock);
    if (self->session) self->settings_call = camarb_session_configure(self->session, wanted);
    g_mutex_unlock(&self->lock);
    camarb_configuration_free(wanted);
    eventfd_write(self->wake, 1);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    CamarbSrc *self = CAMARB_SRC(object);
    GstStructure **structure = id == PROP_DECLARATION ? &self->declaration : id == PROP_CONFIGURATION ? &self->configuration : NULL;
    GST_OBJECT_LOCK(self);
    gchar **text = id == PROP_CAMERA ? &self->camera : id == PROP_ADDRESS ? &self->address : id == PROP_APP ? &self->app : NULL;
    if (text) {
        g_free(*text);
        *text = g_value_dup_string(value);
    } else if (structure) {
        g_clear_pointer(structure, gst_structure_free);
        *structure = g_value_dup_boxed(value);
    } else if (id == PROP_SLATE) {
        self->wants_slates = g_value_get_boolean(value);
    } else {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
    if (id == PROP_CONFIGURATION && g_value_get_boxed(value)) configure(self, g_value_get_boxed(value));
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    CamarbSrc *self = CAMARB_SRC(object);
    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROP_CAMERA: g_value_set_string(value, self->camera); break;
    case PROP_ADDRESS: g_value_set_string(value, self->address); break;
    case PROP_APP: g_value_set_string(value, self->app); break;
    case PROP_DECLARATION: g_value_set_boxed(value, self->declaration); break;
    case PROP_CONFIGURATION: g_value_set_boxed(value, self->configuration); break;
    case PROP_FORMAT: g_value_set_boxed(value, self->format_facts); break;
    case PROP_SLATE: g_value_set_boolean(value, self->wants_slates); break;
    case PROP_IS_INTERRUPTED: g_value_set_boolean(value, self->is_interrupted); break;
    case PROP_CAMERA_NAME: g_value_set_string(value, self->camera_name); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

/* ── Actions ────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A photo into a file: its call's number, whose answer is camarb-answered; negative: it was not asked for. */
static gint64 capture_photo(CamarbSrc *self, const gchar *location) {
    int file = location ? open(location, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0) return location ? -errno : -EINVAL;
    g_mutex_lock(&self->lock);
    gint64 call = self->session ? camarb_session_capture_photo(self->session, file, NULL) : -ENOTCONN;
    g_mutex_unlock(&self->lock);
    close(file);
    eventfd_write(self->wake, 1);
    return call;
}

/* Answers camarb-will-be-interrupted. */
static gint64 ready(CamarbSrc *self, guint64 interruption) {
    g_mutex_lock(&self->lock);
    gint64 call = self->session ? camarb_session_ready(self->session, interruption) : -ENOTCONN;
    g_mutex_unlock(&self->lock);
    eventfd_write(self->wake, 1);
    return call;
}

/* ── Caps ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static GstCaps *get_caps(GstBaseSrc *source, GstCaps *filter) {
    CamarbSrc *self = CAMARB_SRC(source);
    GST_OBJECT_LOCK(self);
    GstCaps *known = self->forced ? self->forced : self->offered;
    GstCaps *caps = known ? gst_caps_ref(known) : NULL;
    GST_OBJECT_UNLOCK(self);
    if (!caps) caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(source));
    if (!filter) return caps;
    GstCaps *both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    return both;
}

/* The first turn that knows the camera's formats negotiates. Waiting for them here would block in PAUSED, where no picture may flow. */
static gboolean negotiate(GstBaseSrc *source) {
    CamarbSrc *self = CAMARB_SRC(source);
    GST_OBJECT_LOCK(self);
    gboolean is_known = self->offered != NULL;
    GST_OBJECT_UNLOCK(self);
    return !is_known || GST_BASE_SRC_CLASS(camarb_src_parent_class)->negotiate(source);
}

static GstCaps *fixate(GstBaseSrc *source, GstCaps *caps) {
    caps = gst_caps_truncate(gst_caps_make_writable(caps));
    gst_structure_fixate_field_nearest_fraction(gst_caps_get_structure(caps, 0), "framerate", RATE_USUAL, 1);
    return GST_BASE_SRC_CLASS(camarb_src_parent_class)->fixate(source, caps);
}

static gboolean set_caps(GstBaseSrc *source, GstCaps *caps) {
    CamarbSrc *self = CAMARB_SRC(source);
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps)) return FALSE;
    GST_OBJECT_LOCK(self);
    gboolean is_forced = self->forced != NULL;
    GST_OBJECT_UNLOCK(self);
    g_mutex_lock(&self->lock);
    const camarb_format *format = self->client ? formats_find(self->formats, self->format_count, &info) : NULL;
    gboolean is_possible = format || is_forced;
    if (is_possible) {
        self->info = info;
        if (!is_forced) {
            self->format = format;
            turn_configure(self);
        }
    }
    g_mutex_unlock(&self->lock);
    if (!is_possible) return FALSE;
    GstClockTime interval = formats_interval(&info);
    GST_OBJECT_LOCK(self);
    gboolean differs = self->interval != interval;
    self->interval = interval;
    GST_OBJECT_UNLOCK(self);
    if (differs) gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
    return TRUE;
}

static gboolean decide_allocation(GstBaseSrc *source, GstQuery *query) {
    GstCaps *caps;
    gst_query_parse_allocation(query, &caps, NULL);
    GstVideoInfo info;
    if (!caps || !gst_video_info_from_caps(&info, caps)) return GST_BASE_SRC_CLASS(camarb_src_parent_class)->decide_allocation(source, query);
    GstBufferPool *pool = NULL;
    /* As many as downstream keeps, whose queues have bounds of their own. */
    guint size = (guint)info.size, least = 2, most = 0;
    gboolean is_proposed = gst_query_get_n_allocation_pools(query) > 0;
    if (is_proposed) gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
    if (!pool) pool = gst_video_buffer_pool_new();
    size = MAX(size, (guint)info.size);
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, least, most);
    if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL))
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
    if (is_proposed) gst_query_set_nth_allocation_pool(query, 0, pool, size, least, most);
    else gst_query_add_allocation_pool(query, pool, size, least, most);
    gst_object_unref(pool);
    return GST_BASE_SRC_CLASS(camarb_src_parent_class)->decide_allocation(source, query);
}

static gboolean query(GstBaseSrc *source, GstQuery *query) {
    CamarbSrc *self = CAMARB_SRC(source);
    if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return GST_BASE_SRC_CLASS(camarb_src_parent_class)->query(source, query);
    GST_OBJECT_LOCK(self);
    GstClockTime interval = self->interval;
    GST_OBJECT_UNLOCK(self);
    /* A picture is dated when its exposure began, and is here a frame later; behind it so many may wait before one is dropped. */
    gst_query_set_latency(query, TRUE, interval, (1 + FRAMES_KEPT) * interval);
    return TRUE;
}

/* ── Beginning and end ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void begin_failed(CamarbSrc *self, int result, const char *why) {
    switch (result) {
    case -ENOENT:
    case -ENOTDIR:
    case -ECONNREFUSED: GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", why), (NULL)); break;
    case -EINVAL: GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", why), (NULL)); break;
    default: GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", why), (NULL));
    }
}

/* A client with its session, which begins with what was set; or a negative errno number, and why. */
static int begin(CamarbSrc *self, const gchar *address, const gchar *app, const gchar *camera, const camarb_configuration *wanted,
    camarb_configuration *declaration, char *why, gsize bytes) {
    g_snprintf(why, bytes, "%s", wanted && declaration ? "There are no descriptors left for the camera."
        : "The properties configuration and declaration take words, numbers, booleans, and arrays of two or three numbers.");
    if (!wanted || !declaration) return -EINVAL;
    if (self->wake < 0) return -EMFILE;
    int result = camarb_client_new_explained(&self->client, address && address[0] ? address : NULL, why, bytes);
    if (result < 0) return result;
    self->app_was_set = (app && app[0]) || camarb_configuration_key(declaration, 0);
    const char *program = g_get_prgname() ? g_get_prgname() : program_invocation_short_name;
    camarb_configuration_set_word(declaration, "app", app && app[0] ? app : program);
    self->declare_call = camarb_client_declare(self->client, declaration);
    camarb_client_watch_cameras(self->client);
    self->session = camarb_session_new(self->client, camera, wanted);
    if (self->session) return 0;
    g_strlcpy(why, camarb_client_error(self->client), bytes);
    camarb_client_free(self->client);
    self->client = NULL;
    return -ENOMEM;
}

static gboolean start(GstBaseSrc *source) {
    CamarbSrc *self = CAMARB_SRC(source);
    GST_OBJECT_LOCK(self);
    gchar *camera = g_strdup(self->camera), *address = g_strdup(self->address), *app = g_strdup(self->app);
    camarb_configuration *wanted = settings_read(self->configuration), *declaration = settings_read(self->declaration);
    GST_OBJECT_UNLOCK(self);
    char why[1024];
    g_mutex_lock(&self->lock);
    int result = begin(self, address, app, camera, wanted, declaration, why, sizeof why);
    if (result == 0) {
        self->phase = PHASE_LEARNING;
        self->learn_by = self->settle_by = 0;
        self->was_started = self->check_rate = self->has_segment = FALSE;
        self->configure_call = self->settings_call = self->start_call = 0;
        self->grant = self->sequence = self->count = 0;
        self->last = GST_CLOCK_TIME_NONE;
        self->watched = camarb_client_fd(self->client);
    }
    g_mutex_unlock(&self->lock);
    if (result < 0) begin_failed(self, result, why);
    camarb_configuration_free(wanted);
    camarb_configuration_free(declaration);
    g_free(camera);
    g_free(address);
    g_free(app);
    return result == 0;
}

static gboolean stop(GstBaseSrc *source) {
    CamarbSrc *self = CAMARB_SRC(source);
    g_mutex_lock(&self->lock);
    if (self->client) {
        camarb_session_free(self->session);
        camarb_client_free(self->client);
    }
    self->client = NULL;
    self->session = NULL;
    self->format = NULL;
    g_clear_pointer(&self->formats, g_free);
    self->format_count = 0;
    g_mutex_unlock(&self->lock);
    GST_OBJECT_LOCK(self);
    gst_clear_caps(&self->offered);
    g_clear_pointer(&self->camera_name, g_free);
    g_clear_pointer(&self->format_facts, gst_structure_free);
    self->is_interrupted = FALSE;
    GST_OBJECT_UNLOCK(self);
    return TRUE;
}

/* While PAUSED the streaming thread stays in `create`, and waits there. Returning FLUSHING would do for READY and for the stream's end; for
 * PAUSED the base class may pause its task then after PLAYING has started it again, and nothing would ever come. So the
 * element notes why the base class unlocks. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange change) {
    CamarbSrc *self = CAMARB_SRC(element);
    if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED) {
        g_mutex_lock(&self->lock);
        self->is_pausing = TRUE;
        turn_stop(self);
        g_mutex_unlock(&self->lock);
        g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_IS_INTERRUPTED]);
    }
    GstStateChangeReturn result = GST_ELEMENT_CLASS(camarb_src_parent_class)->change_state(element, change);
    g_mutex_lock(&self->lock);
    self->is_pausing = FALSE;
    /* Only now: before, the base class has not taken its unlocking back. */
    if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING) self->is_playing = result != GST_STATE_CHANGE_FAILURE;
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    /* GStreamer 1.22 does not unlock for PAUSED, and `turn_stop` may have read already all that the broker had to say: the streaming thread
     * would then wait for the client's descriptor, and go on waiting there in PLAYING. */
    eventfd_write(self->wake, 1);
    return result;
}

/* For the stream's end the base class takes it back at once, maybe before the streaming thread has seen it: so it is counted, too. */
static gboolean unlock(GstBaseSrc *source) {
    CamarbSrc *self = CAMARB_SRC(source);
    g_mutex_lock(&self->lock);
    if (!self->is_pausing) {
        self->is_unlocked = TRUE;
        self->unlocks++;
    }
    g_cond_broadcast(&self->changed);
    g_mutex_unlock(&self->lock);
    eventfd_write(self->wake, 1);
    return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *source) {
    CamarbSrc *self = CAMARB_SRC(source);
    g_mutex_lock(&self->lock);
    self->is_unlocked = FALSE;
    g_mutex_unlock(&self->lock);
    return TRUE;
}

/* ── Streaming ──────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

/* A gap event, with which muxers and mixers go on. They need the segment first, which the base class sends with the first buffer only. */
static void push_gap(CamarbSrc *self, const struct step *step) {
    GstPad *pad = GST_BASE_SRC_PAD(self);
    if (!self->has_segment) {
        GST_OBJECT_LOCK(self);
        GstEvent *segment = gst_event_new_segment(&GST_BASE_SRC(self)->segment);
        GST_OBJECT_UNLOCK(self);
        gst_pad_push_event(pad, segment);
        self->has_segment = TRUE;
    }
    gst_pad_push_event(pad, gst_event_new_gap(step->timestamp, step->duration));
}

/* To the camera's own caps, `forced`, or else to the best caps of both sides. */
static gboolean renegotiate(CamarbSrc *self, GstCaps *forced) {
    GST_OBJECT_LOCK(self);
    self->forced = forced;
    GST_OBJECT_UNLOCK(self);
    gboolean is_done = gst_base_src_negotiate(GST_BASE_SRC(self));
    GST_OBJECT_LOCK(self);
    self->forced = NULL;
    GST_OBJECT_UNLOCK(self);
    if (is_done || !forced) return is_done;
    /* Another rate at the same size can be borne: the timestamps say how it is. */
    GstVideoInfo info;
    gst_video_info_from_caps(&info, forced);
    return info.width == self->info.width && info.height == self->info.height
        && formats_is_full_range(&info) == formats_is_full_range(&self->info);
}

/* With the lock, which is released while it waits. OK: the element is PLAYING. FLUSHING: the base class needs the streaming thread.
 * unlocks: their number when `create` was called. */
static GstFlowReturn wait_playing(CamarbSrc *self, guint64 unlocks) {
    while (!self->is_playing && !self->is_unlocked && self->unlocks == unlocks) g_cond_wait(&self->changed, &self->lock);
    return self->is_unlocked || self->unlocks != unlocks || !self->client ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

/* Until the client or another thread wakes it, or a moment has come. */
static void wait(CamarbSrc *self, gint64 until) {
    struct pollfd waited[] = {{.fd = self->watched, .events = POLLIN}, {.fd = self->wake, .events = POLLIN}};
    gint64 left = until == G_MAXINT64 ? -1 : MAX(0, until - g_get_monotonic_time() * 1000);
    struct timespec limit = {.tv_sec = left / (gint64)GST_SECOND, .tv_nsec = left % (gint64)GST_SECOND};
    int ready = ppoll(waited, 2, left < 0 ? NULL : &limit, NULL);
    /* The program has closed the descriptor: polling it again and again would keep a core busy. */
    if (ready > 0 && (waited[0].revents | waited[1].revents) & POLLNVAL) g_usleep(G_USEC_PER_SEC / 20);
    eventfd_t ignored;
    eventfd_read(self->wake, &ignored);
}

static GstFlowReturn fail_to_negotiate(CamarbSrc *self, GstCaps *forced) {
    gchar *text = forced ? gst_caps_to_string(forced) : NULL;
    if (text)
        GST_ELEMENT_ERROR(self, STREAM, FORMAT,
            ("The camera gives other pictures now, and what is behind camarbsrc does not take them."), ("%s", text));
    g_free(text);
    return text ? GST_FLOW_ERROR : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn create(GstPushSrc *source, GstBuffer **made) {
    CamarbSrc *self = CAMARB_SRC(source);
    gboolean was_interrupted, is_interrupted;
    guint64 unlocks = 0;
    GST_OBJECT_LOCK(self);
    was_interrupted = self->is_interrupted;
    GST_OBJECT_UNLOCK(self);
    for (;;) {
        struct step step;
        g_mutex_lock(&self->lock);
        if (unlocks == 0) unlocks = self->unlocks;
        GstFlowReturn result = wait_playing(self, unlocks);
        if (result == GST_FLOW_OK) turn(self, &step);
        g_mutex_unlock(&self->lock);
        if (result != GST_FLOW_OK) return result;
        GST_OBJECT_LOCK(self);
        is_interrupted = self->is_interrupted;
        GST_OBJECT_UNLOCK(self);
        if (is_interrupted != was_interrupted) g_object_notify_by_pspec(G_OBJECT(self), properties[PROP_IS_INTERRUPTED]);
        was_interrupted = is_interrupted;
        switch (step.kind) {
        case STEP_WAIT: wait(self, step.until); break;
        case STEP_AGAIN: break;
        case STEP_POST: gst_element_post_message(GST_ELEMENT(self), step.message); break;
        case STEP_ERROR:
            gst_element_message_full(
                GST_ELEMENT(self), GST_MESSAGE_ERROR, step.domain, step.code, step.text, step.debug, __FILE__, G_STRFUNC, __LINE__);
            result = GST_FLOW_ERROR;
            break;
        case STEP_NEGOTIATE:
            if (!renegotiate(self, step.forced)) result = fail_to_negotiate(self, step.forced);
            gst_clear_caps(&step.forced);
            /* The pad is being taken down under it: that is no failure. */
            if (result != GST_FLOW_OK && GST_PAD_IS_FLUSHING(GST_BASE_SRC_PAD(self))) result = GST_FLOW_FLUSHING;
            break;
        case STEP_BUFFER:
            *made = step.buffer;
            return GST_FLOW_OK;
        case STEP_GAP: push_gap(self, &step); break;
        }
        if (result != GST_FLOW_OK) return result;
    }
}

/* ── The class ──────────────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void finalize(GObject *object) {
    CamarbSrc *self = CAMARB_SRC(object);
    if (self->wake >= 0) close(self->wake);
    g_cond_clear(&self->changed);
    g_mutex_clear(&self->lock);
    g_free(self->camera);
    g_free(self->address);
    g_free(self->app);
    g_free(self->camera_name);
    g_clear_pointer(&self->configuration, gst_structure_free);
    g_clear_pointer(&self->declaration, gst_structure_free);
    g_clear_pointer(&self->format_facts, gst_structure_free);
    G_OBJECT_CLASS(camarb_src_parent_class)->finalize(object);
}

static void camarb_src_init(CamarbSrc *self) {
    g_mutex_init(&self->lock);
    g_cond_init(&self->changed);
    self->unlocks = 1;
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->wants_slates = TRUE;
    self->interval = GST_SECOND / RATE_USUAL;
    gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
    gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
    gst_base_src_set_do_timestamp(GST_BASE_SRC(self), FALSE);
}

static void camarb_src_class_init(CamarbSrcClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS, writable = readable | G_PARAM_WRITABLE;
    const GParamFlags settable = writable | GST_PARAM_MUTABLE_READY, at_any_time = writable | GST_PARAM_MUTABLE_PLAYING;
    properties[PROP_CAMERA] = g_param_spec_string(
        "camera", "Camera", "The camera's id, as in `camclient devices`; nothing: the back one, else the first", NULL, settable);
    properties[PROP_ADDRESS] = g_param_spec_string(
        "address", "Address", "Where the broker is: unix:path=… or a path; nothing: $CAMARB_SOCKET, the user's, the system's", NULL,
        settable);
    properties[PROP_APP] = g_param_spec_string(
        "app", "App", "What this program says it is, such as a desktop file's name; nothing: the program's name. A claim: where the "
        "kernel vouches for another name, that counts", NULL, settable);
    properties[PROP_DECLARATION] = g_param_spec_boxed(
        "declaration", "Declaration", "More of what this program is: declaration=\"camarb,kind=voip,multitasking=true,"
        "requiresFullScreen=false\"", GST_TYPE_STRUCTURE, settable);
    properties[PROP_CONFIGURATION] = g_param_spec_boxed(
        "configuration", "Configuration", "Keys of docs/wire.md, set at once: configuration=\"camarb,videoZoomFactor=2.0,torchMode=on,"
        "sharingMode=sharedReadOnly,focusPointOfInterest=<0.5,0.5>\". Caps choose the format and the rate",
        GST_TYPE_STRUCTURE, at_any_time);
    properties[PROP_FORMAT] = g_param_spec_boxed(
        "format", "Format", "The camera's format and all that is known of it, with the keys of docs/wire.md, once caps are agreed",
        GST_TYPE_STRUCTURE, readable);
    properties[PROP_SLATE] = g_param_spec_boolean(
        "slate", "Slate", "While the camera is not there, show a picture that says why; else nothing is pushed but gap events", TRUE,
        at_any_time);
    properties[PROP_IS_INTERRUPTED] = g_param_spec_boolean(
        "is-interrupted", "Is interrupted", "Whether the camera is away and comes back by itself", FALSE,
        readable | G_PARAM_EXPLICIT_NOTIFY);
    properties[PROP_CAMERA_NAME] = g_param_spec_string(
        "camera-name", "Camera name", "What a person calls the camera, once it is known", NULL, readable);
    g_object_class_install_properties(object, PROP_COUNT, properties);
    const GSignalFlags action = G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION;
    g_signal_new_class_handler("capture-photo", CAMARB_TYPE_SRC, action, G_CALLBACK(capture_photo), NULL, NULL, NULL, G_TYPE_INT64, 1,
        G_TYPE_STRING);
    g_signal_new_class_handler("ready", CAMARB_TYPE_SRC, action, G_CALLBACK(ready), NULL, NULL, NULL, G_TYPE_INT64, 1, G_TYPE_UINT64);

    GstElementClass *element = GST_ELEMENT_CLASS(class);
    element->change_state = change_state;
    gst_element_class_add_static_pad_template(element, &source_template);
    gst_element_class_set_static_metadata(
        element, "Shared camera source", "Source/Video/Hardware",
        "A camera of the broker camarbd. While another app has it, a slate is shown and the bus has camarb-interrupted (reason, causes, "
        "interrupter, rule, message); camarb-resumed (duration) when it is back by itself; camarb-stopped (reason, rule, message) when it "
        "comes back only after PAUSED and PLAYING",
        "The camarb authors");

    GstBaseSrcClass *base = GST_BASE_SRC_CLASS(class);
    base->get_caps = get_caps;
    base->negotiate = negotiate;
    base->fixate = fixate;
    base->set_caps = set_caps;
    base->decide_allocation = decide_allocation;
    base->query = query;
    base->start = start;
    base->stop = stop;
    base->unlock = unlock;
    base->unlock_stop = unlock_stop;
    GST_PUSH_SRC_CLASS(class)->create = create;
}

static gboolean plugin_init(GstPlugin *plugin) {
    GST_DEBUG_CATEGORY_INIT(camarb_debug, "camarb", 0, "cameras of camarbd");
    /* No rank for the element: autovideosrc tries a source in READY only, before the broker is known. */
    return gst_element_register(plugin, "camarbsrc", GST_RANK_NONE, CAMARB_TYPE_SRC)
        && gst_device_provider_register(plugin, "camarbprovider", GST_RANK_PRIMARY, CAMARB_TYPE_PROVIDER);
}

#define PACKAGE "camarb"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, camarb, "Cameras of the broker camarbd", plugin_init, CAMARB_VERSION,
    "Apache 2.0", "camarb", "camarb")
