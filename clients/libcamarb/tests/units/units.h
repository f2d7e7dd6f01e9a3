/* units.h: claims about files of C by themselves, beside a scripted peer. A claim is a sentence and a function that requires.
 *
 * A program of them says `ok` and the sentence of each that holds, and how many they are. The first that does not ends it with 1. */
#ifndef CAMARB_UNITS_H
#define CAMARB_UNITS_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Claims take milliseconds. One that waits for what does not come ends the program, however starved the machine is. */
enum { UNIT_SECONDS_MAX = 60 };

struct unit {
    const char *sentence;
    void (*holds)(void);
};

static const char *unit_sentence = "";

#define REQUIRE(condition)                                                                                                     \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            printf("FAILED  %s\n%s:%d: %s\n", unit_sentence, __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

/* The same of two texts, which are shown. */
#define REQUIRE_TEXT(text, wanted)                                                                                             \
    do {                                                                                                                       \
        const char *is = (text), *is_to_be = (wanted);                                                                         \
        if (strcmp(is, is_to_be) != 0) {                                                                                       \
            printf("FAILED  %s\n%s:%d:\n%s\nand not\n%s\n", unit_sentence, __FILE__, __LINE__, is, is_to_be);                  \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

static void unit_hangs(int number) {
    (void)number;
    const char *parts[] = {"FAILED  ", unit_sentence, "\nit did not end\n"};
    for (size_t i = 0; i < 3; i++)
        if (write(1, parts[i], strlen(parts[i])) < 0) _exit(1);
    _exit(1);
}

/* begin, end: around each claim, or NULL. */
static inline int units_run(const struct unit *units, size_t count, void (*begin)(void), void (*end)(void)) {
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGALRM, unit_hangs);
    for (size_t i = 0; i < count; i++) {
        unit_sentence = units[i].sentence;
        alarm(UNIT_SECONDS_MAX);
        if (begin) begin();
        units[i].holds();
        if (end) end();
        printf("ok      %s\n", unit_sentence);
    }
    alarm(0);
    printf("%zu of %zu\n", count, count);
    return 0;
}

#endif
