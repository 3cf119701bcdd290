/*
 * Enrolments of students in courses, from standard input, a line each:
 *
 *     enrolments STORE
 *         enrol STUDENT COURSE TYPE
 *         withdraw STUDENT COURSE
 *         leave STUDENT               from all courses, and the student's row goes
 *
 * An enrolment is `course:COURSE` in row STUDENT of the table `students` and `student:STUDENT` in
 * row COURSE of `courses`, both with the type. Each line is one batch over both tables; it is on
 * disk when the line is printed with its number. What cannot be done is told, and changes nothing:
 * exit code 1.
 */
#include "../case.h"

#include <string.h>

typedef struct {
    gf_user_table *table;
    unsigned list;     /* family of the other side's ids */
    const char *what;  /* "student", "course" */
    gf_buffer id, key; /* of the line that is being done */
} side;

/* Whether there is such a row; *row is filled, the caller's to release. */
static bool find(side *s, const char *id, gf_row *row)
{
    gf_buffer_reset(&s->id);
    gf_buffer_str(&s->id, id);
    must(gf_buffer_check(&s->id, &err));
    gf_status st = gf_table_get(gf_user_table_rows(s->table), NULL,
                                row_key(s->table, gf_buffer_view(&s->id), &s->key), GF_ALL_FAMILIES,
                                row, &err);
    if (st != GF_ENOTFOUND)
        must(st);
    else
        fprintf(stderr, "there is no %s %s\n", s->what, id);
    return st == GF_OK;
}

static void put(gf_batch *batch, const side *s, const side *other, const char *type)
{
    gf_batch_put(batch, gf_user_table_rows(s->table), gf_buffer_view(&s->key), s->list,
                 gf_buffer_view(&other->id), gf_slice_str(type), 0);
}

static void clear(gf_batch *batch, const side *s, const side *other)
{
    gf_batch_delete_cell(batch, gf_user_table_rows(s->table), gf_buffer_view(&s->key), s->list,
                         gf_buffer_view(&other->id));
}

/* Both sides of an enrolment; type NULL withdraws. */
static bool change(gf_batch *batch, side *student, side *course, char **words, const char *type)
{
    gf_row row = {0};
    bool good = find(student, words[1], &row) && find(course, words[2], &row);
    gf_row_release(&row);
    if (good && type) {
        put(batch, student, course, type);
        put(batch, course, student, type);
    } else if (good) {
        clear(batch, student, course);
        clear(batch, course, student);
    }
    return good;
}

/* The row, and what every course of its list has of it. */
static bool leave(gf_batch *batch, side *student, side *course, const char *id)
{
    gf_row row = {0};
    bool good = find(student, id, &row);
    for (size_t i = 0; i < row.n_cells; i++) {
        if (row.cells[i].family != student->list) continue;
        row_key(course->table, row.cells[i].qualifier, &course->key);
        clear(batch, course, student);
    }
    if (good)
        gf_batch_delete_row(batch, gf_user_table_rows(student->table),
                            gf_buffer_view(&student->key), GF_ALL_FAMILIES);
    gf_row_release(&row);
    return good;
}

static bool do_line(gf_batch *batch, side *student, side *course, char *line)
{
    char *words[5] = {NULL};
    int n = 0;
    for (char *w = strtok(line, " \n"); w && n < 5; w = strtok(NULL, " \n"))
        words[n++] = w;
    if (n == 4 && !strcmp(words[0], "enrol"))
        return change(batch, student, course, words, words[3]);
    if (n == 3 && !strcmp(words[0], "withdraw")) return change(batch, student, course, words, NULL);
    if (n == 2 && !strcmp(words[0], "leave")) return leave(batch, student, course, words[1]);
    fprintf(stderr, "a line is none of enrol S C TYPE, withdraw S C, leave S\n");
    return false;
}

int main(int argc, char **argv)
{
    char line[4096];
    bool good = true;
    gf_batch *batch;
    if (argc != 2) {
        fprintf(stderr, "enrolments STORE <LINES\n");
        return 2;
    }
    gf_store *store = open_store(argv[1]);
    side student = {.table = open_table(store, "students"), .what = "student"};
    side course = {.table = open_table(store, "courses"), .what = "course"};
    student.list = family_of(student.table, "course");
    course.list = family_of(course.table, "student");
    must(gf_batch_create(gf_store_database(store), &batch, &err));
    for (int number = 1; fgets(line, sizeof line, stdin); number++) {
        char text[sizeof line];
        memcpy(text, line, sizeof line);
        if (!do_line(batch, &student, &course, line)) {
            good = false;
            continue;
        }
        must(gf_batch_write(batch, GF_SYNC_ON, &err));
        printf("%d %s", number, text);
        fflush(stdout);
    }
    gf_batch_free(batch);
    side *sides[] = {&student, &course};
    for (int i = 0; i < 2; i++) {
        gf_user_table_close(sides[i]->table);
        gf_buffer_release(&sides[i]->id);
        gf_buffer_release(&sides[i]->key);
    }
    gf_store_close(store);
    return good ? 0 : 1;
}
