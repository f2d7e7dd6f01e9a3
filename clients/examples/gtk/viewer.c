/* usage: viewer [--frames N] [--save PREFIX]
 *
 * A window that shows a camera, or why there is none. With --frames it ends after so many pictures of the camera; with --save it writes
 * what the window shows to PREFIX-1.png, PREFIX-2.png, …: at each beginning and end of an interruption, and at its own end. */
#include "camarb-paintable.h"

#include <stdlib.h>

static int frames, saved;
static char *prefix;
static GError *error;
/* How many pictures have to be seen before the next one is saved; G_MAXUINT: none is to be. */
static guint due = G_MAXUINT;

static void save(GdkPaintable *whole, GtkWidget *window) {
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(whole, snapshot, gdk_paintable_get_intrinsic_width(whole), gdk_paintable_get_intrinsic_height(whole));
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    if (!node) return;
    g_autoptr(GdkTexture) texture = gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)), node, NULL);
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

/* Whenever the window has been drawn: `whole` is what it shows. */
static void on_drawn(GdkPaintable *whole, CamarbPaintable *camera) {
    GtkWidget *window = gtk_widget_get_ancestor(gtk_widget_paintable_get_widget(GTK_WIDGET_PAINTABLE(whole)), GTK_TYPE_WINDOW);
    guint seen = camarb_paintable_get_frames(camera);
    gboolean is_over = frames > 0 && seen >= (guint)frames;
    if (prefix && (is_over || seen >= due)) {
        due = G_MAXUINT;
        save(whole, window);
    }
    if (!is_over) return;
    g_print("%u frames\n", seen);
    g_signal_handlers_disconnect_by_data(whole, camera);
    gtk_window_destroy(GTK_WINDOW(window));
}

static void on_activate(GtkApplication *app) {
    CamarbPaintable *camera = camarb_paintable_new(g_application_get_application_id(G_APPLICATION(app)), "", &error);
    if (!camera) return;
    GtkWidget *window = gtk_application_window_new(app), *picture = gtk_picture_new_for_paintable(GDK_PAINTABLE(camera));
    g_signal_connect(camera, "notify::status", G_CALLBACK(on_status), NULL);
    g_object_set_data_full(G_OBJECT(window), "camera", camera, g_object_unref);
    GdkPaintable *whole = gtk_widget_paintable_new(picture);
    g_object_set_data_full(G_OBJECT(window), "whole", whole, g_object_unref);
    g_signal_connect(whole, "invalidate-contents", G_CALLBACK(on_drawn), camera);
    gtk_window_set_default_size(GTK_WINDOW(window), 640, 360);
    gtk_window_set_child(GTK_WINDOW(window), picture);
    gtk_window_present(GTK_WINDOW(window));
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
