#include "CEdit.h"

#include <histedit.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct camarb_edit {
    EditLine *editor;
    History *history;
    HistEvent event;
    char *prompt, *line;
    camarb_edit_complete complete;
    void *context;
    bool is_abandoned, has_inserted, has_shown;
};

static struct camarb_edit *edit_of(EditLine *editor) {
    void *edit = NULL;
    el_get(editor, EL_CLIENTDATA, &edit);
    return edit;
}

static char *prompt_of(EditLine *editor) { return edit_of(editor)->prompt; }

static unsigned char complete(EditLine *editor, int key) {
    (void)key;
    struct camarb_edit *edit = edit_of(editor);
    const LineInfo *typed = el_line(editor);
    char *before = strndup(typed->buffer, (size_t)(typed->cursor - typed->buffer));
    if (!before) return CC_ERROR;
    edit->has_inserted = edit->has_shown = false;
    edit->complete(edit->context, before);
    free(before);
    if (edit->has_shown) return CC_REDISPLAY;
    return edit->has_inserted ? CC_REFRESH : CC_REFRESH_BEEP;
}

static unsigned char abandon(EditLine *editor, int key) {
    (void)key;
    edit_of(editor)->is_abandoned = true;
    return CC_NEWLINE;
}

/* While a line is edited Ctrl-C and Ctrl-Z are keys: as signals they would leave the terminal as the editor has it. */
static bool configure(struct camarb_edit *edit) {
    EditLine *editor = edit->editor;
    return el_set(editor, EL_CLIENTDATA, edit) == 0 && el_set(editor, EL_PROMPT, prompt_of) == 0 &&
           el_set(editor, EL_EDITOR, "emacs") == 0 && el_set(editor, EL_HIST, history, edit->history) == 0 &&
           el_set(editor, EL_ADDFN, "camarb-complete", "Complete the word", complete) == 0 &&
           el_set(editor, EL_ADDFN, "camarb-abandon", "Give the line up", abandon) == 0 &&
           el_set(editor, EL_BIND, "^I", "camarb-complete", NULL) == 0 &&
           el_set(editor, EL_BIND, "^C", "camarb-abandon", NULL) == 0 &&
           el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL) == 0 &&
           el_set(editor, EL_SETTY, "-d", "-isig", NULL) == 0;
}

struct camarb_edit *camarb_edit_new(const char *prompt, int history_max, camarb_edit_complete complete, void *context) {
    struct camarb_edit *edit = calloc(1, sizeof *edit);
    if (!edit) return NULL;
    edit->complete = complete;
    edit->context = context;
    /* Letters of more than a byte are told from their locale. */
    setlocale(LC_CTYPE, "");
    edit->prompt = strdup(prompt);
    edit->history = history_init();
    edit->editor = el_init("camclient", stdin, stdout, stderr);
    if (edit->prompt && edit->history && edit->editor && history(edit->history, &edit->event, H_SETSIZE, history_max) >= 0 &&
        history(edit->history, &edit->event, H_SETUNIQUE, 1) >= 0 && configure(edit))
        return edit;
    camarb_edit_free(edit);
    return NULL;
}

void camarb_edit_free(struct camarb_edit *edit) {
    if (edit->editor) el_end(edit->editor);
    if (edit->history) history_end(edit->history);
    free(edit->prompt);
    free(edit->line);
    free(edit);
}

enum camarb_edit_result camarb_edit_next(struct camarb_edit *edit, const char **line) {
    int count = 0;
    edit->is_abandoned = false;
    /* The terminal may have another size than at the last line. */
    el_resize(edit->editor);
    const char *typed = el_gets(edit->editor, &count);
    bool is_over = !edit->is_abandoned && (!typed || count <= 0);
    if (is_over || edit->is_abandoned) {
        fputs(is_over ? "\n" : "^C\n", stdout);
        fflush(stdout);
        return is_over ? camarb_edit_end : camarb_edit_abandoned;
    }
    free(edit->line);
    edit->line = strndup(typed, strcspn(typed, "\n"));
    if (!edit->line) return camarb_edit_end;
    if (edit->line[strspn(edit->line, " \t")]) history(edit->history, &edit->event, H_ENTER, edit->line);
    *line = edit->line;
    return camarb_edit_line;
}

int camarb_edit_load(struct camarb_edit *edit, const char *path) { return history(edit->history, &edit->event, H_LOAD, path); }

int camarb_edit_save(struct camarb_edit *edit, const char *path) { return history(edit->history, &edit->event, H_SAVE, path); }

void camarb_edit_insert(struct camarb_edit *edit, const char *text) {
    edit->has_inserted = el_insertstr(edit->editor, text) == 0;
}

void camarb_edit_show(struct camarb_edit *edit, const char *text) {
    edit->has_shown = true;
    fprintf(stdout, "\n%s\n", text);
}
