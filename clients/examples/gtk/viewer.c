/* usage: viewer [--frames N] [--save PREFIX]
 *
 * A window that shows a camera, or why there is none. With --frames it ends when it has shown so many pictures of the camera; with --save
 * it writes what the window shows to PREFIX-1.png, PREFIX-2.png, …: at each beginning and end of an interruption, and at its own end. */
#include "camarb-paintable.h"

#include <stdlib.h>

static int frames, shown, saved;
static char *prefix;
static GError *error;
/* The number of the camera's last picture that was drawn; and that from which on the window is to be saved, G_MAXUINT for never. */
static guint last, due = G_MAXUINT;

static void save(GtkWidget *widget) {
    g_autoptr(GdkPaintable) whole = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(whole, snapshot, gtk_widget_get_width(widget), gtk_widget_get_height(widget));
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (!node) return;
    GskRenderer *renderer = gtk_native_get_renderer(gtk_widget_get_native(widget));
    g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(renderer, node, NULL);
    g_autofree char *file = g_strdup_printf("%s-%d.png", prefix, ++saved);
    gdk_texture_save_to_png(texture, file);
    gsk_render_node_unref(node);
}

static void on_status(CamarbPaintable *camera) {
    const char *status = camarb_paintable_get_status(camera);
    g_print("%s\n", *status ? status : "running");
    /* A slate is there at once. */
    if (prefix) due = camarb_paintable_get_frames(camera) + (*status ? 0 : 1);
}

/* Whenever the window was painted: it shows what the camera's paintable has now. */
static void on_painted(GdkFrameClock *clock, GtkWidget *picture) {
    guint number = camarb_paintable_get_frames(CAMARB_PAINTABLE(gtk_picture_get_paintable(GTK_PICTURE(picture))));
    if (number != last) shown++;
    last = number;
    if (number >= due) {
        due = G_MAXUINT;
        save(picture);
        return;
    }
    if (frames == 0 || shown < frames) return;
    if (prefix) save(picture);
    g_print("%d frames\n", frames);
    g_signal_handlers_disconnect_by_data(clock, picture);
    gtk_window_destroy(GTK_WINDOW(gtk_widget_get_root(picture)));
}

static void on_activate(GtkApplication *app) {
    CamarbPaintable *camera = camarb_paintable_new(g_application_get_application_id(G_APPLICATION(app)), "", &error);
    if (!camera) return;
    GtkWidget *window = gtk_application_window_new(app), *picture = gtk_picture_new_for_paintable(GDK_PAINTABLE(camera));
    g_signal_connect(camera, "notify::status", G_CALLBACK(on_status), NULL);
    g_object_unref(camera);
    gtk_window_set_default_size(GTK_WINDOW(window), 640, 360);
    gtk_window_set_child(GTK_WINDOW(window), picture);
    gtk_window_present(GTK_WINDOW(window));
    g_signal_connect_object(gtk_widget_get_frame_clock(window), "after-paint", G_CALLBACK(on_painted), picture, 0);
}

int main(int count, char **words) {
    const GOptionEntry options[] = {
        {"frames", 0, 0, G_OPTION_ARG_INT, &frames, "End after N pictures of the camera", "N"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &prefix, "Write what the window shows to PREFIX-1.png, …", "PREFIX"},
        {0},
    };
    g_autoptr(GtkApplication) app = gtk_application_new("org.example.Viewer", G_APPLICATION_NON_UNIQUE);
    g_application_add_main_option_entries(G_APPLICATION(app), options);
    g_signal_connect(app, "activate", G_CALLBACK(on_activate), NULL);
    int status = g_application_run(G_APPLICATION(app), count, words);
    if (error) g_printerr("%s\n", error->message);
    return error ? EXIT_FAILURE : status;
}
