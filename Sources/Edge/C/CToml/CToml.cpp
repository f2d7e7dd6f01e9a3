#include "CToml.h"

#include <new>
#include <utility>
#include <vector>

/* Errors come back as values, nothing is ever written as TOML, and depth is bounded. */
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES CTOML_NESTED_VALUES_MAX
/* The parser asserts of its input what is not always so (that a header's name does not begin with "?"), and has an error for it right
 * after: without the assertion that error comes. With NDEBUG it would be a promise to the compiler. */
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

struct ctoml_document {
    toml::parse_result result;
    std::vector<ctoml_row> rows;
};

namespace {

ctoml_region region(const toml::source_region &source) noexcept {
    return {source.begin.line, source.begin.column, source.end.line, source.end.column};
}

ctoml_text text(std::string_view view) noexcept { return {view.data(), view.size()}; }

/* Rows point into the tree, which the document keeps. */
void append(std::vector<ctoml_row> &rows, size_t parent, const toml::key *key, const toml::node &node) {
    ctoml_row row{};
    row.parent = parent;
    row.where = region(node.source());
    if (key) {
        row.key = text(key->str());
        row.key_where = region(key->source());
    }
    const size_t self = rows.size();
    switch (node.type()) {
    case toml::node_type::table:
        row.kind = CTOML_TABLE;
        rows.push_back(row);
        for (auto &&[name, child] : *node.as_table()) append(rows, self, &name, child);
        return;
    case toml::node_type::array:
        row.kind = CTOML_ARRAY;
        rows.push_back(row);
        for (auto &&child : *node.as_array()) append(rows, self, nullptr, child);
        return;
    case toml::node_type::string:
        row.kind = CTOML_STRING;
        row.string = text(node.as_string()->get());
        break;
    case toml::node_type::integer:
        row.kind = CTOML_INTEGER;
        row.integer = node.as_integer()->get();
        break;
    case toml::node_type::floating_point:
        row.kind = CTOML_FLOAT;
        row.floating = node.as_floating_point()->get();
        break;
    case toml::node_type::boolean:
        row.kind = CTOML_BOOLEAN;
        row.boolean = node.as_boolean()->get();
        break;
    default:
        row.kind = CTOML_DATE;
        break;
    }
    rows.push_back(row);
}

} // namespace

extern "C" ctoml_document *ctoml_parse(const char *bytes, size_t length) {
    auto *document = new (std::nothrow) ctoml_document{toml::parse(std::string_view{bytes, length}), {}};
    if (document && document->result.succeeded()) append(document->rows, 0, nullptr, document->result.table());
    return document;
}

extern "C" void ctoml_free(ctoml_document *document) { delete document; }

extern "C" bool ctoml_failed(const ctoml_document *document, ctoml_region *where, ctoml_text *why) {
    if (document->result.succeeded()) return false;
    const toml::parse_error &error = document->result.error();
    *where = region(error.source());
    *why = text(error.description());
    return true;
}

extern "C" size_t ctoml_row_count(const ctoml_document *document) { return document->rows.size(); }

extern "C" ctoml_row ctoml_row_at(const ctoml_document *document, size_t index) { return document->rows[index]; }
