/** The parts that sources share: lines that wait to be read, their name, their place. */
#ifndef GF_FORMATS_SOURCES_SOURCE_INTERNAL_H
#define GF_FORMATS_SOURCES_SOURCE_INTERNAL_H

#include "formats/sources/source.h"

/** A kind of source. `more` appends lines to source->lines, or none at the end. */
typedef struct gf_source_kind {
    gf_status (*begin)(gf_source *source, gf_error *err);
    gf_status (*more)(gf_source *source, gf_error *err);
    gf_status (*take_place)(gf_source *source, gf_error *err); /* source->place has changed */
    void (*close)(gf_source *source);
} gf_source_kind;

/** The first member of each kind's own struct. */
struct gf_source {
    const gf_source_kind *kind;
    const gf_cancel *cancel;
    gf_buffer name;  /* "postgres-0f..." */
    gf_buffer shown; /* of the stream, in messages */
    gf_buffer place; /* that it begins at */
    gf_buffer lines; /* given up to `given` */
    size_t given;
    bool has_begun, at_end;
};

/** The name: the kind's, and a hash of n strings. */
gf_status gf_source_set_name(gf_source *source, const char *kind, const gf_slice *strings, size_t n,
                             gf_error *err);

/** Append {"$place": "..."} as a line. */
void gf_source_put_place(gf_source *source, gf_slice place);

/** Wait until something can be read (and, where asked for, written), or a tenth of a second. */
gf_status gf_source_wait(const gf_source *source, int file, bool writes, bool *is_ready,
                         gf_error *err);

#endif
