#include "support/test.h"

#include "base/file.h"
#include "formats/bytes/files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root;

static const char *at_root(const char *name)
{
    static char path[8][512];
    static int i;
    i = (i + 1) % 8;
    snprintf(path[i], sizeof path[i], "%s/%s", root, name);
    return path[i];
}

static void write_file(const char *name, const char *content)
{
    gf_error err;
    gf_buffer folder = {0};
    const char *path = at_root(name);
    gf_buffer_append(&folder, path, (size_t)(strrchr(path, '/') - path));
    assert_ok(gf_file_make_folders(gf_buffer_cstr(&folder), &err));
    assert_ok(gf_file_write(path, gf_slice_str(content), &err));
    gf_buffer_release(&folder);
}

static bool follows_links;   /* of the lists that are made */
static uint64_t passed_over; /* links, of the last list */

/* Lines "name(folder): content". */
static gf_status list(const char *const *paths, size_t n, gf_buffer *out, gf_error *err)
{
    gf_files *files = NULL;
    gf_slice name;
    gf_status st = gf_files_open(paths, n, &files, err);
    if (st != GF_OK) return st;
    if (follows_links) gf_files_follow_links(files);
    gf_input input = gf_files_input(files);
    while ((st = input.next(input.context, &name, err)) == GF_OK) {
        gf_buffer_format(out, "%.*s%s: ", GF_SLICE_ARG(name),
                         input.in_folder(input.context) ? "(folder)" : "");
        char bytes[3];
        size_t got;
        while ((st = input.read(input.context, bytes, sizeof bytes, &got, err)) == GF_OK && got)
            gf_buffer_append(out, bytes, got);
        if (st != GF_OK) break;
        gf_buffer_byte(out, '\n');
    }
    passed_over = gf_files_take_passed(files);
    gf_files_close(files);
    return st == GF_ENOTFOUND ? gf_buffer_check(out, err) : st;
}

static void check(const char *const *paths, size_t n, const char *expected)
{
    gf_error err;
    gf_buffer out = {0};
    assert_ok(list(paths, n, &out, &err));
    assert_string_equal(gf_buffer_cstr(&out), expected);
    gf_buffer_release(&out);
}

static int make_tree(void **state)
{
    (void)state;
    root = gf_test_folder();
    write_file("tree/b.txt", "bee");
    write_file("tree/a/z.txt", "zed");
    write_file("tree/a/y/x.txt", "ex");
    write_file("tree/a-1.txt", "dash");
    write_file("tree/.hidden", "no");
    write_file("tree/.git/config", "no");
    write_file("tree/empty.txt", "");
    write_file("tree/my.store/grouperfish.store", "of a store: no documents");
    write_file("tree/my.store/db/1.ldb", "no");
    write_file("other/target.txt", "linked");
    write_file("tree-2/secret.txt", "of a neighbour whose name begins alike");
    assert_int_equal(symlink("..", at_root("tree/a/loop")), 0);
    assert_int_equal(symlink(".", at_root("tree/self")), 0);
    assert_int_equal(symlink("nowhere", at_root("tree/dangling")), 0);
    assert_int_equal(symlink("../other/target.txt", at_root("tree/link.txt")), 0);
    assert_int_equal(symlink("../b.txt", at_root("tree/a/within.txt")), 0);
    assert_int_equal(symlink(at_root("tree-2/secret.txt"), at_root("tree/secret.txt")), 0);
    assert_int_equal(symlink("../other", at_root("tree/link-to-folder")), 0);
    assert_int_equal(mkfifo(at_root("tree/pipe"), 0600), 0);
    assert_int_equal(mkdir(at_root("tree/void"), 0700), 0);
    return 0;
}

#define TREE                                                                                       \
    "a/within.txt(folder): bee\n"                                                                  \
    "a/y/x.txt(folder): ex\n"                                                                      \
    "a/z.txt(folder): zed\n"                                                                       \
    "a-1.txt(folder): dash\n"                                                                      \
    "b.txt(folder): bee\n"                                                                         \
    "empty.txt(folder): \n"

static void walks_a_folder_in_order(void **state)
{
    (void)state;
    const char *plain[] = {at_root("tree")}, *slash[] = {at_root("tree/")};
    check(plain, 1, TREE);
    check(slash, 1, TREE);
}

/* A link out of the folder could lead to any file: it is read where that was asked for. */
static void links_out_of_a_folder_are_passed_over(void **state)
{
    (void)state;
    const char *plain[] = {at_root("tree")}, *link_to_it[] = {at_root("door")};
    check(plain, 1, TREE);
    assert_int_equal(passed_over, 2);
    assert_int_equal(symlink("tree", at_root("door")), 0);
    check(link_to_it, 1, TREE);
    assert_int_equal(passed_over, 2);
    follows_links = true;
    check(plain, 1,
          TREE "link.txt(folder): linked\n"
               "secret.txt(folder): of a neighbour whose name begins alike\n");
    assert_int_equal(passed_over, 0);
    follows_links = false;
    assert_int_equal(unlink(at_root("door")), 0);
}

static void reads_what_was_named(void **state)
{
    (void)state;
    const char *paths[] = {at_root("tree/.hidden"), at_root("tree/link-to-folder"),
                           at_root("tree/void"), at_root("tree/b.txt"), at_root("tree/b.txt")};
    gf_buffer expected = {0};
    gf_buffer_format(&expected, "%s: no\ntarget.txt(folder): linked\n%s: bee\n%s: bee\n", paths[0],
                     paths[3], paths[3]);
    check(paths, 5, gf_buffer_cstr(&expected));
    gf_buffer_release(&expected);
    check(NULL, 0, "");
}

static void reads_standard_input(void **state)
{
    (void)state;
    int pipes[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "typed", 5), 5);
    close(pipes[1]);
    dup2(pipes[0], STDIN_FILENO);
    close(pipes[0]);
    const char *paths[] = {"-"};
    check(paths, 1, "standard input: typed\n");
    dup2(before, STDIN_FILENO);
    close(before);
}

static void names_what_is_missing(void **state)
{
    (void)state;
    gf_error err;
    gf_files *files = NULL;
    const char *paths[] = {at_root("tree/b.txt"), at_root("tree/no-such.txt")};
    assert_status(GF_ENOTFOUND, gf_files_open(paths, 2, &files, &err));
    assert_null(files);
    assert_non_null(strstr(err.message, "there is no file or folder "));
    assert_non_null(strstr(err.message, "tree/no-such.txt"));
    paths[1] = at_root("tree/b.txt/below-a-file");
    assert_status(GF_ENOTFOUND, gf_files_open(paths, 2, &files, &err));
}

/* A file that goes while the import runs is an error of reading, not the end. */
static void tells_of_a_file_that_went(void **state)
{
    (void)state;
    gf_error err;
    write_file("gone/a.txt", "a");
    write_file("gone/b.txt", "b");
    const char *paths[] = {at_root("gone")};
    gf_files *files;
    gf_slice name;
    assert_ok(gf_files_open(paths, 1, &files, &err));
    gf_input input = gf_files_input(files);
    assert_ok(input.next(input.context, &name, &err));
    assert_slice(name, "a.txt");
    assert_int_equal(unlink(at_root("gone/b.txt")), 0);
    assert_status(GF_EIO, input.next(input.context, &name, &err));
    assert_non_null(strstr(err.message, "gone/b.txt"));
    gf_files_close(files);
}

static gf_status list_tree(void *context, gf_error *err)
{
    const char *paths[] = {context, at_root("tree/b.txt")};
    gf_buffer out = {0};
    gf_status st = list(paths, 2, &out, err);
    gf_buffer_release(&out);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/tree", root);
    gf_test_sweep(list_tree, NULL, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_a_folder_in_order),
        cmocka_unit_test(links_out_of_a_folder_are_passed_over),
        cmocka_unit_test(reads_what_was_named),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(names_what_is_missing),
        cmocka_unit_test(tells_of_a_file_that_went),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("files", tests, make_tree, NULL);
}
