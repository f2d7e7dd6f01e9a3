/* utf8.h: letters out of bytes, for judging texts and for drawing them. */
#ifndef CAMARB_UTF8_H
#define CAMARB_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The letter that a text, which ends with a 0, begins with, and how many bytes it has; 0: it begins with what is no UTF-8. */
static inline size_t utf8_letter(const char *text, uint32_t *letter) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *at = (const uint8_t *)text;
    size_t length = at[0] < 0x80 ? 1 : at[0] >> 5 == 0x6 ? 2 : at[0] >> 4 == 0xe ? 3 : at[0] >> 3 == 0x1e ? 4 : 0;
    if (!length) return 0;
    *letter = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    /* A 0 continues nothing, so that nothing behind the text is looked at. */
    for (size_t more = 1; more < length; more++) {
        if (at[more] >> 6 != 2) return 0;
        *letter = *letter << 6 | (at[more] & 0x3f);
    }
    /* Overlong forms, numbers beyond Unicode, and halves of UTF-16's pairs. */
    return *letter < least[length] || *letter > 0x10ffff || (*letter >= 0xd800 && *letter < 0xe000) ? 0 : length;
}

#endif
