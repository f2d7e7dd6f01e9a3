#include "CLibav.h"

#include <string.h>

void camarb_av_quiet(void) { av_log_set_level(AV_LOG_FATAL); }

void camarb_av_error(int code, char *text, size_t capacity) { av_strerror(code, text, capacity); }

struct SwsContext *camarb_sws_make(struct camarb_sws_side from, struct camarb_sws_side to, int flags) {
    struct SwsContext *context = sws_alloc_context();
    if (!context) return NULL;
    av_opt_set_int(context, "srcw", from.width, 0);
    av_opt_set_int(context, "srch", from.height, 0);
    av_opt_set_int(context, "src_format", from.format, 0);
    av_opt_set_int(context, "src_range", from.is_full, 0);
    av_opt_set_int(context, "dstw", to.width, 0);
    av_opt_set_int(context, "dsth", to.height, 0);
    av_opt_set_int(context, "dst_format", to.format, 0);
    av_opt_set_int(context, "dst_range", to.is_full, 0);
    av_opt_set_int(context, "sws_flags", flags, 0);
    if (sws_init_context(context, NULL, NULL) < 0) {
        sws_freeContext(context);
        return NULL;
    }
    /* Fails for formats that have no range to convert, which is then right as it is. */
    const int *table = sws_getCoefficients(SWS_CS_ITU709);
    sws_setColorspaceDetails(context, table, from.is_full, table, to.is_full, 0, 1 << 16, 1 << 16);
    return context;
}

AVIOContext *camarb_output_make(
    unsigned char *buffer, int capacity, void *opaque, int (*write)(void *opaque, const uint8_t *bytes, int count),
    int64_t (*seek)(void *opaque, int64_t offset, int whence)) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    return avio_alloc_context(buffer, capacity, 1, opaque, NULL, write, seek);
#else
    return avio_alloc_context(buffer, capacity, 1, opaque, NULL, (int (*)(void *, uint8_t *, int))write, seek);
#endif
}

int camarb_packet_from_bytes(AVPacket *packet, const uint8_t *bytes, int count) {
    int result = av_new_packet(packet, count);
    if (result < 0) return result;
    memcpy(packet->data, bytes, (size_t)count);
    return 0;
}

int camarb_packet_discard(AVPacket *packet, uint32_t samples) {
    /* As libavcodec describes AV_PKT_DATA_SKIP_SAMPLES: from the start, from the end, and a reason for each. */
    enum { bytes = 10, from_end = 4 };
    uint8_t *data = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, bytes);
    if (!data) return AVERROR(ENOMEM);
    memset(data, 0, bytes);
    for (int i = 0; i < 4; i++) data[from_end + i] = (uint8_t)(samples >> 8 * i);
    return 0;
}

int camarb_stream_orient(AVStream *stream, int orientation) {
    /* How far the stored picture is turned clockwise, before left and right are exchanged, where they are. */
    static const struct { int angle, mirrored; } turns[] = {
        {0, 0}, {0, 1}, {180, 0}, {180, 1}, {90, 1}, {90, 0}, {270, 1}, {270, 0}};
    enum { cells = 9 };
    if (orientation < 1 || orientation > 8) return AVERROR(EINVAL);
    if (orientation == 1) return 0;
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    AVPacketSideData *data = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX,
        cells * sizeof(int32_t), 0);
    int32_t *matrix = data ? (int32_t *)data->data : NULL;
#else
    int32_t *matrix = (int32_t *)av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, cells * sizeof(int32_t));
#endif
    if (!matrix) return AVERROR(ENOMEM);
    av_display_rotation_set(matrix, turns[orientation - 1].angle);
    av_display_matrix_flip(matrix, turns[orientation - 1].mirrored, 0);
    return 0;
}
