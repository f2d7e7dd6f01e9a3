/* Lines that somebody types on a terminal, edited by libedit, whose functions with variable arguments Swift cannot call. */
#pragma once

struct camarb_edit;

/* Completes the line up to the cursor, by camarb_edit_insert and camarb_edit_show. Called on the thread that reads. */
typedef void (*camarb_edit_complete)(void *context, const char *before);

enum camarb_edit_result {
    camarb_edit_line,
    /* Ctrl-C: the line is given up. */
    camarb_edit_abandoned,
    /* Ctrl-D on an empty line, or the terminal is gone. */
    camarb_edit_end,
};

/* Edits what is typed on standard input. The prompt is of ASCII letters. NULL where libedit cannot. */
struct camarb_edit *camarb_edit_new(const char *prompt, int history_max, camarb_edit_complete complete, void *context);
/* Puts the terminal back as it was. */
void camarb_edit_free(struct camarb_edit *edit);

/* The line, without its end, is valid until the next call. Between two lines the terminal is as it was. */
enum camarb_edit_result camarb_edit_next(struct camarb_edit *edit, const char **line);

/* In the file's own format, in which each line of it is one that was typed. Negative: it cannot be read or written. */
int camarb_edit_load(struct camarb_edit *edit, const char *path);
int camarb_edit_save(struct camarb_edit *edit, const char *path);

/* While it completes: inserts a text at the cursor, and shows one below the line. */
void camarb_edit_insert(struct camarb_edit *edit, const char *text);
void camarb_edit_show(struct camarb_edit *edit, const char *text);
