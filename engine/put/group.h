/** The line of puts that share a sync (group.c). One for a store. */
#ifndef GF_ENGINE_PUT_GROUP_H
#define GF_ENGINE_PUT_GROUP_H

struct gf_put_line *gf_put_line_create(void);
void gf_put_line_free(struct gf_put_line *line);

#endif
