#include "CLibav.h"

#include <string.h>

void camarb_av_quiet(void) { av_log_set_level(AV_LOG_FATAL); }

void camarb_av_error(int code, char *text, size_t capacity) { av_strerror(code, text, capacity); }

int camarb_sws_set_ranges(struct SwsContext *context, int source_full, int destination_full) {
    const int *table = sws_getCoefficients(SWS_CS_ITU709);
    return sws_setColorspaceDetails(context, table, source_full, table, destination_full, 0, 1 << 16, 1 << 16);
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
