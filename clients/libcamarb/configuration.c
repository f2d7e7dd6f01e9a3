/* Batches of settings: keys and values, which the broker judges. */
#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

camarb_configuration *camarb_configuration_new(void) { return calloc(1, sizeof(camarb_configuration)); }

static void setting_clear(struct setting *setting) {
    free(setting->key);
    free(setting->word);
}

void configuration_clear(camarb_configuration *configuration) {
    for (size_t i = 0; i < configuration->count; i++) setting_clear(&configuration->settings[i]);
    free(configuration->settings);
    *configuration = (camarb_configuration){0};
}

void camarb_configuration_free(camarb_configuration *configuration) {
    if (!configuration) return;
    configuration_clear(configuration);
    free(configuration);
}

static struct setting *find(const camarb_configuration *configuration, const char *key) {
    for (size_t i = 0; i < configuration->count; i++)
        if (strcmp(configuration->settings[i].key, key) == 0) return &configuration->settings[i];
    return NULL;
}

/* The value of a key, of a kind and blank: the value is the caller's to set. */
static int place(camarb_configuration *configuration, const char *key, char kind, struct setting **found) {
    if (!configuration || !key || !key[0] || strnlen(key, KEY_MAX + 1) > KEY_MAX || !text_is_utf8(key)) return -EINVAL;
    struct setting *setting = find(configuration, key);
    if (setting) {
        free(setting->word);
        *setting = (struct setting){.key = setting->key, .kind = kind};
        *found = setting;
        return 0;
    }
    if (configuration->count == SETTINGS_MAX) return -E2BIG;
    setting = reallocarray(configuration->settings, configuration->count + 1, sizeof *setting);
    if (!setting) return -ENOMEM;
    configuration->settings = setting;
    setting += configuration->count;
    *setting = (struct setting){.key = strdup(key), .kind = kind};
    if (!setting->key) return -ENOMEM;
    configuration->count++;
    *found = setting;
    return 0;
}

int camarb_configuration_set_word(camarb_configuration *configuration, const char *key, const char *word) {
    if (!word || strnlen(word, WORD_MAX + 1) > WORD_MAX || !text_is_utf8(word)) return -EINVAL;
    char *copy = strdup(word);
    if (!copy) return -ENOMEM;
    struct setting *setting;
    int result = place(configuration, key, 's', &setting);
    if (result < 0) free(copy);
    else setting->word = copy;
    return result;
}

int camarb_configuration_set_number(camarb_configuration *configuration, const char *key, double number) {
    if (!isfinite(number)) return -EINVAL;
    struct setting *setting;
    int result = place(configuration, key, 'd', &setting);
    if (result == 0) setting->number = number;
    return result;
}

int camarb_configuration_set_flag(camarb_configuration *configuration, const char *key, bool flag) {
    struct setting *setting;
    int result = place(configuration, key, 'b', &setting);
    if (result == 0) setting->flag = flag;
    return result;
}

int camarb_configuration_set_numbers(camarb_configuration *configuration, const char *key, const double *numbers, size_t count) {
    if (!numbers || count < 2 || count > NUMBERS_MAX) return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return -EINVAL;
    struct setting *setting;
    int result = place(configuration, key, 'r', &setting);
    if (result < 0) return result;
    setting->number_count = count;
    memcpy(setting->numbers, numbers, count * sizeof *numbers);
    return 0;
}

const char *camarb_configuration_key(const camarb_configuration *configuration, size_t index) {
    return configuration && index < configuration->count ? configuration->settings[index].key : NULL;
}

const char *camarb_configuration_word(const camarb_configuration *configuration, const char *key) {
    if (!configuration || !key) return NULL;
    const struct setting *setting = find(configuration, key);
    return setting && setting->kind == 's' ? setting->word : NULL;
}

/* The value of a key, where it is of that kind. */
static int found(const camarb_configuration *configuration, const char *key, char kind, const void *into, const struct setting **setting) {
    if (!configuration || !key || !into) return -EINVAL;
    *setting = find(configuration, key);
    return !*setting ? -ENOENT : (*setting)->kind == kind ? 0 : -EINVAL;
}

int camarb_configuration_number(const camarb_configuration *configuration, const char *key, double *number) {
    const struct setting *setting;
    int result = found(configuration, key, 'd', number, &setting);
    if (result == 0) *number = setting->number;
    return result;
}

int camarb_configuration_flag(const camarb_configuration *configuration, const char *key, bool *flag) {
    const struct setting *setting;
    int result = found(configuration, key, 'b', flag, &setting);
    if (result == 0) *flag = setting->flag;
    return result;
}

int camarb_configuration_numbers(const camarb_configuration *configuration, const char *key, double *numbers, size_t count) {
    const struct setting *setting;
    int result = found(configuration, key, 'r', count > 0 ? (const void *)numbers : key, &setting);
    if (result < 0) return result;
    for (size_t i = 0; i < count && i < setting->number_count; i++) numbers[i] = setting->numbers[i];
    return (int)setting->number_count;
}

void configuration_remove(camarb_configuration *configuration, const char *key) {
    struct setting *setting = find(configuration, key);
    if (!setting) return;
    setting_clear(setting);
    *setting = configuration->settings[--configuration->count];
}

static int set(camarb_configuration *into, const struct setting *setting) {
    switch (setting->kind) {
    case 's': return camarb_configuration_set_word(into, setting->key, setting->word);
    case 'd': return camarb_configuration_set_number(into, setting->key, setting->number);
    case 'r': return camarb_configuration_set_numbers(into, setting->key, setting->numbers, setting->number_count);
    default: return camarb_configuration_set_flag(into, setting->key, setting->flag);
    }
}

int configuration_move(camarb_configuration *into, camarb_configuration *from, const char *key) {
    const struct setting *setting = find(from, key);
    int result = setting ? set(into, setting) : 0;
    configuration_remove(setting ? from : into, key);
    return result;
}

int configuration_merge(camarb_configuration *into, const camarb_configuration *later) {
    for (size_t i = 0; later && i < later->count; i++) {
        int result = set(into, &later->settings[i]);
        if (result < 0) return result;
    }
    return 0;
}

int configuration_take(camarb_configuration *into, const camarb_configuration *later) {
    /* Keys that a preset or a format resets. */
    static const char *const replaced[] = {
        "sessionPreset", "activeFormat", "frameRate", "activeVideoMinFrameDuration", "activeVideoMaxFrameDuration"};
    if (!later) return 0;
    const char *preset = camarb_configuration_word(later, "sessionPreset");
    bool has_format = find(later, "activeFormat") != NULL, has_preset = preset && strcmp(preset, "inputPriority") != 0;
    for (size_t i = 0; (has_format || has_preset) && i < sizeof replaced / sizeof replaced[0]; i++)
        configuration_remove(into, replaced[i]);
    bool has_durations = find(later, "activeVideoMinFrameDuration") || find(later, "activeVideoMaxFrameDuration");
    double rate;
    if (find(later, "frameRate")) {
        configuration_remove(into, "activeVideoMinFrameDuration");
        configuration_remove(into, "activeVideoMaxFrameDuration");
    } else if (has_durations && camarb_configuration_number(into, "frameRate", &rate) == 0 && rate > 0) {
        configuration_remove(into, "frameRate");
        int result = camarb_configuration_set_number(into, "activeVideoMinFrameDuration", 1 / rate);
        if (result == 0) result = camarb_configuration_set_number(into, "activeVideoMaxFrameDuration", 1 / rate);
        if (result < 0) return result;
    }
    return configuration_merge(into, later);
}

camarb_configuration *configuration_copy(camarb_client *client, const camarb_configuration *from) {
    camarb_configuration *copy = camarb_configuration_new();
    if (copy && configuration_merge(copy, from) == 0) return copy;
    camarb_configuration_free(copy);
    client->is_out_of_memory = true;
    return NULL;
}

bool configuration_equals(const camarb_configuration *one, const camarb_configuration *other) {
    if (!one || !other || one->count != other->count) return one == other;
    for (size_t i = 0; i < one->count; i++) {
        const struct setting *mine = &one->settings[i], *theirs = find(other, mine->key);
        if (!theirs || theirs->kind != mine->kind || theirs->number != mine->number || theirs->flag != mine->flag
            || !text_equals(theirs->word, mine->word) || theirs->number_count != mine->number_count)
            return false;
        for (size_t at = 0; at < mine->number_count; at++)
            if (mine->numbers[at] != theirs->numbers[at]) return false;
    }
    return true;
}

int setting_append(sd_bus_message *message, const struct setting *setting) {
    const double *numbers = setting->numbers;
    switch (setting->kind) {
    case 's': return sd_bus_message_append(message, "{sv}", setting->key, "s", setting->word);
    case 'd': return sd_bus_message_append(message, "{sv}", setting->key, "d", setting->number);
    case 'r':
        if (setting->number_count == 2)
            return sd_bus_message_append(message, "{sv}", setting->key, "(dd)", numbers[0], numbers[1]);
        return sd_bus_message_append(message, "{sv}", setting->key, "(ddd)", numbers[0], numbers[1], numbers[2]);
    default: return sd_bus_message_append(message, "{sv}", setting->key, "b", (int)setting->flag);
    }
}

int configuration_append(sd_bus_message *message, const camarb_configuration *configuration, bool reestablished) {
    int result = sd_bus_message_open_container(message, 'a', "{sv}");
    for (size_t i = 0; result >= 0 && configuration && i < configuration->count; i++)
        result = setting_append(message, &configuration->settings[i]);
    if (result >= 0 && reestablished) result = sd_bus_message_append(message, "{sv}", "reestablished", "b", 1);
    return result < 0 ? result : sd_bus_message_close_container(message);
}

int dictionary_read(sd_bus_message *message, entry_reader each, void *into) {
    int result = sd_bus_message_enter_container(message, 'a', "{sv}");
    if (result < 0) return result;
    while ((result = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        const char *key;
        result = sd_bus_message_read(message, "s", &key);
        if (result >= 0) result = each(message, key, into);
        if (result == 0) result = sd_bus_message_skip(message, "v");
        if (result >= 0) result = sd_bus_message_exit_container(message);
        if (result < 0) return result;
    }
    return result < 0 ? result : sd_bus_message_exit_container(message);
}

int variant_is(sd_bus_message *message, const char *type) {
    const char *contents;
    int result = sd_bus_message_peek_type(message, NULL, &contents);
    return result < 0 ? result : contents && strcmp(contents, type) == 0;
}

int word_read(sd_bus_message *message, const char **word) {
    int result = variant_is(message, "s");
    return result > 0 ? sd_bus_message_read(message, "v", "s", word) : result;
}

int flag_read(sd_bus_message *message, bool *flag) {
    int value, result = variant_is(message, "b");
    if (result > 0) result = sd_bus_message_read(message, "v", "b", &value);
    if (result > 0) *flag = value != 0;
    return result;
}

int number_read(sd_bus_message *message, double *number) {
    char type;
    const char *contents;
    union {
        uint8_t y;
        int16_t n;
        uint16_t q;
        int32_t i;
        uint32_t u;
        int64_t x;
        uint64_t t;
        double d;
    } value;
    int result = sd_bus_message_peek_type(message, &type, &contents);
    if (result <= 0) return result < 0 ? result : -EBADMSG;
    if (type != 'v' || !contents || !contents[0] || !strchr("ynqiuxtd", contents[0]) || contents[1]) return 0;
    result = sd_bus_message_read(message, "v", contents, &value);
    if (result < 0) return result;
    switch (contents[0]) {
    case 'y': *number = value.y; break;
    case 'n': *number = value.n; break;
    case 'q': *number = value.q; break;
    case 'i': *number = value.i; break;
    case 'u': *number = value.u; break;
    case 'x': *number = (double)value.x; break;
    case 't': *number = (double)value.t; break;
    default: *number = value.d;
    }
    return 1;
}

static int read_list(sd_bus_message *message, double numbers[NUMBERS_MAX], size_t *count) {
    const void *list;
    size_t bytes;
    int result = sd_bus_message_enter_container(message, 'v', "ad");
    if (result >= 0) result = sd_bus_message_read_array(message, 'd', &list, &bytes);
    if (result >= 0) result = sd_bus_message_exit_container(message);
    if (result < 0) return result;
    *count = bytes / sizeof *numbers;
    if (*count < 2 || *count > NUMBERS_MAX) *count = 0;
    if (*count > 0) memcpy(numbers, list, *count * sizeof *numbers);
    return 1;
}

int numbers_read(sd_bus_message *message, double numbers[NUMBERS_MAX], size_t *count) {
    int result = variant_is(message, "(dd)");
    *count = 2;
    if (result > 0) result = sd_bus_message_read(message, "v", "(dd)", &numbers[0], &numbers[1]);
    if (result != 0) return result;
    result = variant_is(message, "(ddd)");
    *count = 3;
    if (result > 0) result = sd_bus_message_read(message, "v", "(ddd)", &numbers[0], &numbers[1], &numbers[2]);
    if (result != 0) return result;
    result = variant_is(message, "ad");
    return result > 0 ? read_list(message, numbers, count) : result;
}

/* Keys beyond SETTINGS_MAX are left out. */
static int kept(int result) { return result < 0 && result != -E2BIG ? result : 1; }

/* Other types are a newer broker's, and passed over. */
static int read_setting(sd_bus_message *message, const char *key, void *into) {
    const char *word;
    bool flag;
    double number, numbers[NUMBERS_MAX];
    size_t count;
    int result = word_read(message, &word);
    if (result > 0) return kept(camarb_configuration_set_word(into, key, word));
    if (result == 0) result = flag_read(message, &flag);
    if (result > 0) return kept(camarb_configuration_set_flag(into, key, flag));
    if (result == 0) result = numbers_read(message, numbers, &count);
    if (result > 0) return count > 0 ? kept(camarb_configuration_set_numbers(into, key, numbers, count)) : 1;
    if (result == 0) result = number_read(message, &number);
    return result <= 0 ? result : kept(camarb_configuration_set_number(into, key, number));
}

int configuration_read(sd_bus_message *message, camarb_configuration *into) { return dictionary_read(message, read_setting, into); }
