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
