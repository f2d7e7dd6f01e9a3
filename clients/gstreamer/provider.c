/* The cameras of the broker as GstDevices, for programs that let their user choose one. They are looked up at each
 * probe; cameras that come and go are not followed, since no thread reads the broker between two probes. */
#include "camarbsrc.h"

#define PROBE_TIME_MAX ((gint64)2 * GST_SECOND) /* the caller is often a program's main thread */

struct _CamarbProvider {
    GstDeviceProvider parent;
};

G_DEFINE_TYPE(CamarbProvider, camarb_provider, GST_TYPE_DEVICE_PROVIDER)

#define CAMARB_TYPE_DEVICE (camarb_device_get_type())
G_DECLARE_FINAL_TYPE(CamarbDevice, camarb_device, CAMARB, DEVICE, GstDevice)

struct _CamarbDevice {
    GstDevice parent;
    gchar *id;
};

G_DEFINE_TYPE(CamarbDevice, camarb_device, GST_TYPE_DEVICE)

static GstElement *create_element(GstDevice *device, const gchar *name) {
    GstElement *element = gst_element_factory_make("camarbsrc", name);
    if (element) g_object_set(element, "camera", CAMARB_DEVICE(device)->id, NULL);
    return element;
}

static void device_finalize(GObject *object) {
    g_free(CAMARB_DEVICE(object)->id);
    G_OBJECT_CLASS(camarb_device_parent_class)->finalize(object);
}

static void camarb_device_init(CamarbDevice *self) { (void)self; }

static void camarb_device_class_init(CamarbDeviceClass *class) {
    G_OBJECT_CLASS(class)->finalize = device_finalize;
    GST_DEVICE_CLASS(class)->create_element = create_element;
}

static GList *probe(GstDeviceProvider *provider) {
    (void)provider;
    camarb_client *client;
    GList *devices = NULL;
    if (camarb_client_new(&client, NULL) < 0) return NULL;
    if (camarb_call_finish(client, camarb_client_watch_cameras(client), PROBE_TIME_MAX, NULL) == 0) {
        gsize count;
        const camarb_camera *cameras = camarb_client_cameras(client, &count);
        for (gsize i = 0; i < count; i++) {
            if (!cameras[i].is_present) continue;
            GstCaps *caps = formats_caps(&cameras[i]);
            GstStructure *facts = gst_structure_new(
                "camarb", "device.api", G_TYPE_STRING, "camarb", "camarb.camera", G_TYPE_STRING, cameras[i].id, "camarb.position",
                G_TYPE_STRING, cameras[i].position, NULL);
            CamarbDevice *device = g_object_new(
                CAMARB_TYPE_DEVICE, "display-name", cameras[i].name[0] ? cameras[i].name : cameras[i].id, "device-class", "Video/Source",
                "caps", caps, "properties", facts, NULL);
            device->id = g_strdup(cameras[i].id);
            devices = g_list_append(devices, device);
            gst_structure_free(facts);
            gst_caps_unref(caps);
        }
    }
    camarb_client_free(client);
    return devices;
}

static void camarb_provider_init(CamarbProvider *self) { (void)self; }

static void camarb_provider_class_init(CamarbProviderClass *class) {
    GST_DEVICE_PROVIDER_CLASS(class)->probe = probe;
    gst_device_provider_class_set_static_metadata(
        GST_DEVICE_PROVIDER_CLASS(class), "Cameras of camarbd", "Source/Video", "Lists the cameras that the broker camarbd shares",
        "The camarb authors");
}
