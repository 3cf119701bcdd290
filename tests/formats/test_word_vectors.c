/* Tables of word vectors: text, safetensors, and files that lie. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/matrix/word_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *folder;

static const char *path_of(const char *name)
{
    static char path[4][512];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof path[i], "%s/%s", folder, name);
    return path[i];
}

static void write_bytes(const char *name, const void *bytes, size_t n)
{
    gf_error err;
    assert_ok(gf_file_write(path_of(name), gf_slice_of(bytes, n), &err));
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static gf_status read_words(const char *name, const char *const *words, uint32_t n,
                            gf_word_vectors *v, gf_error *err)
{
    gf_slice slices[16];
    for (uint32_t i = 0; i < n; i++)
        slices[i] = gf_slice_str(words[i]);
    return gf_word_vectors_read(path_of(name), slices, n, NULL, v, err);
}

static const char *const asked[] = {"the", "Apple", "new york", "gone", "US", "Apple"};

static void check_asked(const char *name, const char *words_in_table)
{
    gf_error err;
    gf_word_vectors v;
    assert_ok(read_words(name, asked, 6, &v, &err));
    assert_int_equal(v.d, 3);
    assert_int_equal(v.n, 6);
    assert_int_equal(v.words, atoi(words_in_table));
    static const float want[6][3] = {{1, 2, 3}, {0.5f, -1, 1e-3f}, {7, 8, 9},
                                     {0, 0, 0}, {4, 4, 4},         {0.5f, -1, 1e-3f}};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(v.known[i], i != 3);
        for (int c = 0; c < 3; c++)
            assert_near(v.row[3 * i + c], want[i][c], 1e-3);
    }
    gf_word_vectors_release(&v);
}

/* With a header and without; blanks in a word; the exact word before its lower case; the first of two. */
static void text_tables(void **state)
{
    (void)state;
    static const char body[] = "the 1 2 3\nus 5 5 5\nUS 4 4 4 \napple 0.5 -1 1e-3\n"
                               "new york 7 8 9\nthe 9 9 9\nother\t1 1 1\r\n";
    char with_header[sizeof body + 8] = "7 3\n";
    strcat(with_header, body);
    write_text("plain.txt", body);
    write_text("header.vec", with_header);
    check_asked("plain.txt", "7");
    check_asked("header.vec", "7");
    gzFile out = gzopen(path_of("packed.vec.gz"), "wb");
    assert_int_equal(gzwrite(out, with_header, (unsigned)strlen(with_header)), strlen(with_header));
    gzclose(out);
    check_asked("packed.vec.gz", "7");
    gf_error err;
    gf_word_vectors a, b;
    assert_ok(read_words("header.vec", asked, 2, &a, &err));
    assert_ok(read_words("packed.vec.gz", asked, 4, &b, &err));
    assert_true(a.hash == b.hash);
    gf_word_vectors_release(&b);
    assert_ok(read_words("plain.txt", asked, 2, &b, &err));
    assert_true(a.hash != b.hash);
    gf_word_vectors_release(&a);
    gf_word_vectors_release(&b);
}

static void refuse(const char *name, gf_status status, const char *words)
{
    gf_error err = {GF_OK, ""};
    gf_word_vectors v = {.n = 77};
    assert_status(status, read_words(name, asked, 6, &v, &err));
    assert_int_equal(v.n, 77);
    if (!strstr(err.message, words)) fail_msg("\"%s\" does not say \"%s\"", err.message, words);
    if (!strstr(err.message, name)) fail_msg("\"%s\" does not name the file", err.message);
}

static void refuse_text(const char *text, const char *words)
{
    write_text("bad.txt", text);
    refuse("bad.txt", GF_EINVAL, words);
}

static void bad_text(void **state)
{
    (void)state;
    gf_buffer wide = {0};
    gf_error err;
    refuse("no.txt", GF_ENOTFOUND, "No such file");
    refuse_text("the 1 2 3\nof 1 2\n", "line 2: it has a word and 2 numbers, not 3");
    refuse_text("2 3\nthe 1 2\n", "line 2: it has a word and 2 numbers, not 3");
    refuse_text("the 1 nan 3\n", "line 1: \"nan\" is no finite number");
    refuse_text("of 1 2 3\nthe 1 1e999 3\n", "line 2: \"1e999\" is no finite number");
    refuse_text("the 1 1e39 3\n", "line 1: \"1e39\" is no finite number");
    refuse_text("the 1 x 3\n", "\"x\" is no finite number");
    refuse_text("7 3\n", "there is no word in it");
    refuse_text("", "");
    write_text("bad.txt", "alone\n");
    refuse("bad.txt", GF_ELIMIT, "line 1: 0 columns");
    write_text("bad.txt", "9 99999999999\nthe 1\n");
    refuse("bad.txt", GF_ELIMIT, "line 1: 99999999999 columns");
    gf_buffer_str(&wide, "the");
    for (int i = 0; i < 1 << 19; i++)
        gf_buffer_str(&wide, " 1");
    write_bytes("bad.txt", wide.ptr, wide.len);
    refuse("bad.txt", GF_ELIMIT, "line 1");
    gf_buffer_release(&wide);
    write_text("cut.vec.gz", "\x1f\x8b\x08 this is not gzip");
    gf_word_vectors v;
    assert_int_not_equal(read_words("cut.vec.gz", asked, 1, &v, &err), GF_OK);
    gf_cancel stop = {0};
    gf_cancel_request(&stop);
    write_text("plain.txt", "the 1 2 3\n");
    gf_slice word = GF_SLICE("the");
    assert_status(GF_ECANCELLED,
                  gf_word_vectors_read(path_of("plain.txt"), &word, 1, &stop, &v, &err));
}

/* ---- safetensors ----------------------------------------------------------------------------- */

static void write_tensors(const char *header, const void *data, size_t n)
{
    gf_buffer b = {0};
    uint64_t length = strlen(header);
    for (int i = 0; i < 8; i++)
        gf_buffer_byte(&b, (char)(length >> (8 * i)));
    gf_buffer_str(&b, header);
    gf_buffer_append(&b, data, n);
    write_bytes("model.safetensors", b.ptr, b.len);
    gf_buffer_release(&b);
}

static void remove_vocabularies(void)
{
    remove(path_of("words.txt"));
    remove(path_of("vocab.txt"));
    remove(path_of("tokenizer.json"));
}

static const char vocabulary[] = "the\nus\nUS\napple\nnew york\nother\n";
static const float values[6][3] = {{1, 2, 3},         {5, 5, 5}, {4, 4, 4},
                                   {0.5f, -1, 1e-3f}, {7, 8, 9}, {1, 1, 1}};

static uint16_t half_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t exponent = (bits >> 23 & 0xFF) - 112;
    return (uint16_t)((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3FF));
}

static void tensor_tables(void **state)
{
    (void)state;
    uint16_t narrow[6][3];
    double wide[6][3];
    remove_vocabularies();
    write_text("vocab.txt", vocabulary);
    write_tensors(
        "{\"__metadata__\":{\"a\":\"b\"},\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],"
        "\"data_offsets\":[0,72]},\"more\":{\"dtype\":\"I64\",\"shape\":[1],"
        "\"data_offsets\":[72,80]}}",
        (char[80]){0}, 80);
    gf_error err;
    gf_word_vectors v;
    assert_ok(read_words("model.safetensors", asked, 1, &v, &err));
    assert_near(v.row[0], 0, 0);
    gf_word_vectors_release(&v);
    write_tensors("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[0,72]}}",
                  values, sizeof values);
    check_asked("model.safetensors", "6");
    for (int i = 0; i < 18; i++) {
        narrow[i / 3][i % 3] = half_of(values[i / 3][i % 3]);
        wide[i / 3][i % 3] = (double)values[i / 3][i % 3];
    }
    write_tensors("{\"any\":{\"dtype\":\"F16\",\"shape\":[6,3],\"data_offsets\":[0,36]}}", narrow,
                  sizeof narrow);
    check_asked("model.safetensors", "6");
    write_tensors("{\"vectors\":{\"dtype\":\"F64\",\"shape\":[6,3],\"data_offsets\":[0,144]}}",
                  wide, sizeof wide);
    check_asked("model.safetensors", "6");
    for (int i = 0; i < 18; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i / 3][i % 3], sizeof bits);
        narrow[i / 3][i % 3] = (uint16_t)(bits >> 16);
    }
    narrow[3][2] = 0x3A83; /* 0.001 to eight bits */
    write_tensors("{\"any\":{\"dtype\":\"BF16\",\"shape\":[6,3],\"data_offsets\":[0,36]}}", narrow,
                  sizeof narrow);
    check_asked("model.safetensors", "6");
}

/* Halves by hand: the least, one below the normal ones, -2, and the largest. */
static void halves(void **state)
{
    (void)state;
    const uint16_t h[3] = {0x0001, 0xC000, 0x7BFF};
    gf_error err;
    gf_word_vectors v;
    remove_vocabularies();
    write_text("words.txt", "the");
    write_tensors("{\"any\":{\"dtype\":\"F16\",\"shape\":[1,3],\"data_offsets\":[0,6]}}", h,
                  sizeof h);
    assert_ok(read_words("model.safetensors", asked, 1, &v, &err));
    assert_near(v.row[0], ldexp(1, -24), 0);
    assert_near(v.row[1], -2, 0);
    assert_near(v.row[2], 65504, 0);
    gf_word_vectors_release(&v);
    write_tensors("{\"any\":{\"dtype\":\"F16\",\"shape\":[1,3],\"data_offsets\":[0,6]}}",
                  (uint16_t[3]){0, 0x7C00, 0}, 6);
    refuse("model.safetensors", GF_EINVAL, "row 0 of \"any\" is not finite");
}

/* Vocabularies of tokenizers; what is not there is made of pieces, the longest first. */
static void tokenizers(void **state)
{
    (void)state;
    static const char *const words[] = {"unable", "play", "plays", "UNABLE", "xyz", "ableing"};
    static const float rows[5][1] = {{1}, {10}, {100}, {1000}, {5000}};
    gf_error err;
    gf_word_vectors v;
    remove_vocabularies();
    write_text("tokenizer.json",
               "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"un\":0,\"##able\":1,"
               "\"play\":2,\"##ab\":3,\"##le\":4}}}");
    write_tensors("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[5,1],\"data_offsets\":[0,20]}}",
                  rows, sizeof rows);
    assert_ok(read_words("model.safetensors", words, 6, &v, &err));
    assert_near(v.row[0], 5.5, 1e-6); /* un + ##able */
    assert_near(v.row[1], 100, 1e-6);
    assert_near(v.row[3], 5.5, 1e-6);
    assert_true(v.known[0] && v.known[1] && !v.known[2] && v.known[3] && !v.known[4] &&
                !v.known[5]);
    gf_word_vectors_release(&v);
    write_text("tokenizer.json", "{\"model\":{\"vocab\":[[\"<unk>\",0],[\"\xE2\x96\x81play\",-1.5],"
                                 "[\"s\",-2]]}}");
    assert_ok(read_words("model.safetensors", words, 3, &v, &err));
    assert_near(v.row[1], 10, 1e-6);
    assert_false(v.known[0] || v.known[2]);
    gf_word_vectors_release(&v);
    write_text("tokenizer.json", "{\"model\":{\"vocab\":{\"play\":\"x\"}}}");
    refuse("model.safetensors", GF_EINVAL, "tokenizer.json: the row of \"play\" is no number");
    write_text("tokenizer.json", "{\"model\":{\"vocab\":[1]}}");
    refuse("model.safetensors", GF_EINVAL, "word 0 is no string");
    write_text("tokenizer.json", "{\"model\":3}");
    refuse("model.safetensors", GF_EINVAL, "there is no \"vocab\"");
    write_text("tokenizer.json", "{");
    refuse("model.safetensors", GF_EINVAL, "tokenizer.json");
    write_text("tokenizer.json", "{\"model\":{\"vocab\":{\"the\":5}}}");
    refuse("model.safetensors", GF_EINVAL, "a word of row 5, the tensor 5 rows");
    remove_vocabularies();
    refuse("model.safetensors", GF_EINVAL, "there is no vocabulary beside it");
    write_text("words.txt", "");
    refuse("model.safetensors", GF_EINVAL, "words.txt: there is no word in it");
}

static void refuse_header(const char *header, size_t data, gf_status status, const char *words)
{
    char zeros[100] = {0};
    write_tensors(header, zeros, data);
    refuse("model.safetensors", status, words);
}

static void bad_tensors(void **state)
{
    (void)state;
    remove_vocabularies();
    write_text("words.txt", vocabulary);
    refuse_header("{}", 0, GF_EINVAL, "0 tensors have two dimensions");
    refuse_header("{\"a\":{\"shape\":[1,2]},\"b\":{\"shape\":[1,2]}}", 0, GF_EINVAL, "2 tensors");
    refuse_header("{\"embeddings\":1}", 0, GF_EINVAL, "lacks a dtype");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3]}}", 72, GF_EINVAL, "lacks");
    refuse_header("{\"embeddings\":{\"dtype\":\"I8\",\"shape\":[6,3],\"data_offsets\":[0,18]}}", 18,
                  GF_EINVAL, "holds I8");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[0,71]}}",
                  72, GF_EINVAL, "do not hold its 6 x 3 F32");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[0,72]}}",
                  71, GF_EINVAL, "offsets 0 to 72 of 71 bytes");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[72,0]}}",
                  72, GF_EINVAL, "do not hold");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":"
                  "[9223372036854775800,9223372036854775807]}}",
                  72, GF_EINVAL, "do not hold");
    refuse_header(
        "{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[4294967295,3],\"data_offsets\":[0,1]}}", 72,
        GF_ELIMIT, "4294967295 rows");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,0],\"data_offsets\":[0,0]}}", 0,
                  GF_ELIMIT, "0 columns");
    refuse_header("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,-3],\"data_offsets\":[0,72]}}",
                  72, GF_EINVAL, "lacks");
    refuse_header("{\"embeddings\":", 0, GF_EINVAL, "byte 8: the header");
    const char lie[] = "\xFF\xFF\xFF\x04\0\0\0\0{\"a\":1}";
    write_bytes("model.safetensors", lie, sizeof lie - 1);
    refuse("model.safetensors", GF_EINVAL, "byte 0: a header of 83886079 bytes, in a file of 15");
    /* Cut at each length: never read, never beyond its end. */
    write_tensors("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[0,72]}}",
                  values, sizeof values);
    gf_buffer whole = {0};
    gf_error err;
    FILE *in = fopen(path_of("model.safetensors"), "rb");
    char *to = gf_buffer_reserve(&whole, 4096);
    whole.len = fread(to, 1, 4096, in);
    fclose(in);
    for (size_t n = 0; n < whole.len; n++) {
        gf_word_vectors v;
        write_bytes("cut.safetensors", whole.ptr, n);
        assert_int_not_equal(read_words("cut.safetensors", asked, 6, &v, &err), GF_OK);
    }
    gf_buffer_release(&whole);
}

/* ---- too little memory ----------------------------------------------------------------------- */

static gf_status sweep_read(void *context, gf_error *err)
{
    gf_word_vectors v;
    gf_status st = read_words(context, asked, 6, &v, err);
    if (st == GF_OK) gf_word_vectors_release(&v);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    remove_vocabularies();
    write_text("vocab.txt", vocabulary);
    write_text("plain.txt", "the 1 2 3\nus 5 5 5\n");
    write_tensors("{\"embeddings\":{\"dtype\":\"F32\",\"shape\":[6,3],\"data_offsets\":[0,72]}}",
                  values, sizeof values);
    gf_test_sweep(sweep_read, NULL, "model.safetensors");
    gf_test_sweep(sweep_read, NULL, "plain.txt");
}

int main(void)
{
    folder = gf_test_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_tables),    cmocka_unit_test(bad_text),
        cmocka_unit_test(tensor_tables),  cmocka_unit_test(halves),
        cmocka_unit_test(tokenizers),     cmocka_unit_test(bad_tensors),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
