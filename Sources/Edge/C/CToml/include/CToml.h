/* TOML text as a flat list of rows with places: all that Swift needs of toml++, without its C++.
 *
 * Rows are in pre-order: a table's or array's children follow it, each naming its parent's row.
 * Lines and columns count from 1; a column counts Unicode scalars, as an editor does.
 * Nothing here throws, and a document is used by one thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How deep arrays and inline tables may nest in one value. A policy needs three; the parser and its
 * destructors recurse once a level, so this and the line length bound the stack they need. */
#define CTOML_NESTED_VALUES_MAX 8

typedef struct ctoml_document ctoml_document;

typedef enum {
    CTOML_TABLE,
    CTOML_ARRAY,
    CTOML_STRING,
    CTOML_INTEGER,
    CTOML_FLOAT,
    CTOML_BOOLEAN,
    /* A date, a time, or both: no policy takes one. */
    CTOML_DATE,
} ctoml_kind;

typedef struct {
    uint32_t line, column;
    /* The first place after it. */
    uint32_t end_line, end_column;
} ctoml_region;

/* Bytes that live as long as their document; not terminated. */
typedef struct {
    const char *bytes;
    size_t length;
} ctoml_text;

typedef struct {
    /* The row of the table or array that it stands in; the first row is the root, and its own parent. */
    size_t parent;
    ctoml_kind kind;
    ctoml_region where;
    /* Empty in an array. */
    ctoml_text key;
    ctoml_region key_where;
    /* The value, by kind. */
    ctoml_text string;
    int64_t integer;
    double floating;
    bool boolean;
} ctoml_row;

/* Never NULL but for lack of memory. The bytes need not outlive the call. */
ctoml_document *ctoml_parse(const char *bytes, size_t length);
void ctoml_free(ctoml_document *document);

/* Whether the text is no TOML; if so, where and why. */
bool ctoml_failed(const ctoml_document *document, ctoml_region *where, ctoml_text *why);

/* 0 for a text that failed; else at least 1, the root table. */
size_t ctoml_row_count(const ctoml_document *document);
/* `index` is below the count. */
ctoml_row ctoml_row_at(const ctoml_document *document, size_t index);

#ifdef __cplusplus
}
#endif
