/* Texts and lists of words, as events carry them. */
#include "inside.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

char *text_copy(camarb_client *client, const char *text) {
    if (!text || !text[0]) return NULL;
    size_t length = strnlen(text, TEXT_MAX + 1);
    if (length > TEXT_MAX) {
        length = TEXT_MAX;
        /* Bytes that continue a character in UTF-8 begin with the bits 10. */
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    }
    char *copy = strndup(text, length);
    if (!copy) client->is_out_of_memory = true;
    return copy;
}

bool text_equals(const char *one, const char *other) { return strcmp(one ? one : "", other ? other : "") == 0; }

bool text_is_utf8(const char *text) {
    uint32_t letter;
    for (size_t length; *text; text += length)
        if (!(length = utf8_letter(text, &letter))) return false;
    return true;
}

size_t words_count(words list) {
    size_t count = 0;
    if (list)
        while (list[count]) count++;
    return count;
}

bool words_have(words list, const char *word) {
    for (size_t i = 0; list && list[i]; i++)
        if (strcmp(list[i], word) == 0) return true;
    return false;
}

bool words_equal(words one, words other) {
    if (words_count(one) != words_count(other)) return false;
    for (size_t i = 0; one && one[i]; i++)
        if (!words_have(other, one[i])) return false;
    return true;
}

void words_free(words list) {
    for (size_t i = 0; list && list[i]; i++) free((char *)list[i]);
    free((void *)list);
}

words words_copy(camarb_client *client, words list) {
    size_t count = words_count(list);
    if (count == 0) return NULL;
    if (count > WORDS_MAX) count = WORDS_MAX;
    const char **copy = calloc(count + 1, sizeof *copy);
    if (!copy) {
        client->is_out_of_memory = true;
        return NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        copy[kept] = text_copy(client, list[i]);
        /* An empty word is none. */
        if (copy[kept]) kept++;
    }
    return copy;
}

words words_of(camarb_client *client, const char *word) { return words_copy(client, (const char *[]){word, NULL}); }

/* The order in which causes tell what keeps a session from its camera. One that is not among them is a newer broker's. */
static size_t cause_rank(const char *cause) {
    static const char *const ranks[] = {
        "video-device-disconnected", "video-device-blocked-by-privacy", "system-sleep", "login-session-inactive",
        "recorder-reset", CAUSE_BROKER_RESTARTED, "device-error", "sensitive-content-mitigation-activated",
        "video-device-not-available-in-background", "video-device-not-available-with-multiple-foreground-apps",
        "video-device-not-available-due-to-system-pressure", "video-device-in-use-by-another-client",
        "audio-device-in-use-by-another-client",
    };
    size_t count = sizeof ranks / sizeof ranks[0];
    for (size_t i = 0; i < count; i++)
        if (strcmp(ranks[i], cause) == 0) return i;
    return count;
}

words causes_union(camarb_client *client, words one, words other) {
    const char **all = calloc(words_count(one) + words_count(other) + 1, sizeof *all);
    if (!all) {
        client->is_out_of_memory = true;
        return NULL;
    }
    words both[] = {one, other};
    size_t count = 0;
    for (size_t which = 0; which < 2; which++)
        for (size_t i = 0; both[which] && both[which][i]; i++) {
            if (words_have(all, both[which][i]) || count == WORDS_MAX) continue;
            char *copy = text_copy(client, both[which][i]);
            if (!copy) continue;
            size_t place = count++;
            for (; place > 0 && cause_rank(all[place - 1]) > cause_rank(copy); place--) all[place] = all[place - 1];
            all[place] = copy;
        }
    return all;
}
