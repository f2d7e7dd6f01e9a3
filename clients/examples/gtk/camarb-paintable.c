#include "camarb-paintable.h"

#include <camarb.h>
#include <glib-unix.h>
#include <string.h>

struct _CamarbPaintable {
    GObject parent;
    camarb_client *client;
    camarb_session *session;
    guint source, frames;
    GdkTexture *texture; /* what is shown */
    char *status;
};

enum { STATUS = 1 };

static void paintable_init(GdkPaintableInterface *interface);
G_DEFINE_TYPE_WITH_CODE(CamarbPaintable, camarb_paintable, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, paintable_init))

/* Takes the bytes, which are RGB. */
static void show(CamarbPaintable *self, guint8 *bytes, guint width, guint height) {
    g_autoptr(GBytes) memory = g_bytes_new_take(bytes, (gsize)width * height * 3);
    gboolean is_same_size = self->texture && (guint)gdk_texture_get_width(self->texture) == width
        && (guint)gdk_texture_get_height(self->texture) == height;
    g_clear_object(&self->texture);
    self->texture = gdk_memory_texture_new((int)width, (int)height, GDK_MEMORY_R8G8B8, memory, (gsize)width * 3);
    if (!is_same_size) gdk_paintable_invalidate_size(GDK_PAINTABLE(self));
    gdk_paintable_invalidate_contents(GDK_PAINTABLE(self));
}

static guint8 clamped(int value) { return (guint8)CLAMP(value, 0, 255); }

/* NV12 to RGB by BT.601, in 1/256: of the video range (420v), where black is 16, or of the full range (420f). */
static guint8 *converted(const camarb_picture *picture) {
    gboolean is_full = picture->pixel_format[3] == 'f';
    int black = is_full ? 0 : 16, light = is_full ? 256 : 298;
    int red = is_full ? 359 : 409, green_u = is_full ? 88 : 100, green_v = is_full ? 183 : 208, blue = is_full ? 454 : 516;
    guint8 *bytes = g_malloc((gsize)picture->width * picture->height * 3), *to = bytes;
    for (guint y = 0; y < picture->height; y++) {
        const guint8 *luma = picture->planes[0] + (gsize)y * picture->strides[0];
        const guint8 *chroma = picture->planes[1] + (gsize)(y / 2) * picture->strides[1];
        for (guint x = 0; x < picture->width; x++, to += 3) {
            int c = (luma[x] - black) * light + 128, u = chroma[x & ~1u] - 128, v = chroma[x | 1u] - 128;
            to[0] = clamped((c + red * v) >> 8);
            to[1] = clamped((c - green_u * u - green_v * v) >> 8);
            to[2] = clamped((c + blue * u) >> 8);
        }
    }
    return bytes;
}

static void show_frame(CamarbPaintable *self, camarb_frame *frame) {
    const camarb_picture *picture = camarb_frame_picture(frame);
    guint8 *bytes = converted(picture);
    /* The camera may have been taken away, and its memory blanked, meanwhile: half a picture is none. */
    if (camarb_frame_is_intact(frame)) {
        self->frames++;
        show(self, bytes, picture->width, picture->height);
    } else {
        g_free(bytes);
    }
    camarb_frame_release(frame);
}

/* Draws the slate of the size that is shown, and says why; nothing of both while the session runs. */
static void show_slate(CamarbPaintable *self, const char *status) {
    guint width = self->texture ? (guint)gdk_texture_get_width(self->texture) : 1280;
    guint height = self->texture ? (guint)gdk_texture_get_height(self->texture) : 720;
    camarb_slate slate;
    if (camarb_session_slate(self->session, &slate)) {
        guint8 *bytes = g_malloc((gsize)width * height * 3);
        camarb_slate_draw(&slate, "RGB3", width, height, &bytes, (const uint32_t[]){width * 3});
        show(self, bytes, width, height);
    }
    if (strcmp(self->status, status) == 0) return;
    g_free(self->status);
    self->status = g_strdup(status);
    g_object_notify(G_OBJECT(self), "status");
}

static void take_event(CamarbPaintable *self, const camarb_event *event) {
    g_autofree char *status = NULL;
    switch (event->type) {
    case CAMARB_EVENT_DID_START_RUNNING: status = g_strdup(""); break;
    case CAMARB_EVENT_WAS_INTERRUPTED:
    case CAMARB_EVENT_INTERRUPTION_CHANGED:
        status = g_strdup_printf("interrupted: %s%s%s", event->reason, *event->interrupter ? ", by " : "", event->interrupter);
        break;
    case CAMARB_EVENT_SESSION_STOPPED: status = g_strdup_printf("stopped: %s", event->reason); break;
    case CAMARB_EVENT_ENDED:
    case CAMARB_EVENT_DISCONNECTED: status = g_strdup(event->error); break;
    default: return;
    }
    show_slate(self, status);
}

static gboolean on_readable(int descriptor, GIOCondition condition, gpointer data) {
    (void)descriptor, (void)condition;
    g_autoptr(CamarbPaintable) self = g_object_ref(data);
    gboolean has_ended = camarb_client_dispatch(self->client) < 0;
    const camarb_event *event;
    while ((event = camarb_client_next_event(self->client))) take_event(self, event);
    /* Nobody sees more than the newest one. */
    camarb_frame *frame = camarb_session_newest_frame(self->session);
    if (frame) show_frame(self, frame);
    if (has_ended) self->source = 0;
    return has_ended ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

CamarbPaintable *camarb_paintable_new(const char *app, const char *camera, GError **error) {
    char why[512];
    camarb_client *client;
    if (camarb_client_new_explained(&client, NULL, why, sizeof why) < 0) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, why);
        return NULL;
    }
    CamarbPaintable *self = g_object_new(CAMARB_TYPE_PAINTABLE, NULL);
    self->client = client;
    camarb_client_declare_app(client, app);
    self->session = camarb_session_new(client, camera, NULL);
    camarb_session_set_pictures(self->session, true);
    camarb_session_start(self->session);
    self->source = g_unix_fd_add(camarb_client_fd(client), G_IO_IN, on_readable, self);
    show_slate(self, "starting");
    return self;
}

const char *camarb_paintable_get_status(CamarbPaintable *self) { return self->status; }
guint camarb_paintable_get_frames(CamarbPaintable *self) { return self->frames; }

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    CamarbPaintable *self = CAMARB_PAINTABLE(paintable);
    if (self->texture) gdk_paintable_snapshot(GDK_PAINTABLE(self->texture), snapshot, width, height);
}

static int intrinsic_width(GdkPaintable *paintable) {
    GdkTexture *texture = CAMARB_PAINTABLE(paintable)->texture;
    return texture ? gdk_texture_get_width(texture) : 0;
}

static int intrinsic_height(GdkPaintable *paintable) {
    GdkTexture *texture = CAMARB_PAINTABLE(paintable)->texture;
    return texture ? gdk_texture_get_height(texture) : 0;
}

static void paintable_init(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_intrinsic_width = intrinsic_width;
    interface->get_intrinsic_height = intrinsic_height;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    if (id == STATUS) g_value_set_string(value, CAMARB_PAINTABLE(object)->status);
    else G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void finalize(GObject *object) {
    CamarbPaintable *self = CAMARB_PAINTABLE(object);
    if (self->source) g_source_remove(self->source);
    /* And with it the session. */
    camarb_client_free(self->client);
    g_clear_object(&self->texture);
    g_free(self->status);
    G_OBJECT_CLASS(camarb_paintable_parent_class)->finalize(object);
}

static void camarb_paintable_class_init(CamarbPaintableClass *class) {
    G_OBJECT_CLASS(class)->get_property = get_property;
    G_OBJECT_CLASS(class)->finalize = finalize;
    g_object_class_install_property(
        G_OBJECT_CLASS(class), STATUS, g_param_spec_string("status", NULL, NULL, "", G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void camarb_paintable_init(CamarbPaintable *self) { self->status = g_strdup(""); }
