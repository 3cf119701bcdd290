/*
 * A table of word vectors of any bytes, text or safetensors, beside a vocabulary: read, or refused with a
 * reason, without reading beyond what the file has.
 */
#include "formats/matrix/word_vectors.h"
#include "tests/fuzz/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static char table[64];

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    fuzz_check(out != NULL);
    fuzz_check(fwrite(bytes, 1, n, out) == n);
    fuzz_check(fclose(out) == 0);
}

static void make_folder(void)
{
    static const char vocabulary[] = "the\nof\n##ing\nand\n";
    char folder[] = "/tmp/fuzz-words-XXXXXX", path[64];
    fuzz_check(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/words.txt", folder);
    write_file(path, vocabulary, sizeof vocabulary - 1);
    snprintf(table, sizeof table, "%s/table", folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const asked[] = {"the", "Of", "anding", "new york", ""};
    enum { ASKED = sizeof asked / sizeof asked[0] };
    gf_slice words[ASKED];
    gf_word_vectors v;
    gf_error err = {GF_OK, ""};
    if (!table[0]) make_folder();
    write_file(table, bytes, n);
    for (int i = 0; i < ASKED; i++)
        words[i] = gf_slice_str(asked[i]);
    gf_status st = gf_word_vectors_read(table, words, ASKED, NULL, &v, &err);
    if (st != GF_OK) {
        fuzz_check(err.message[0] != '\0');
        return 0;
    }
    fuzz_check(v.n == ASKED && v.d > 0 && v.d <= GF_MOST_WORD_COLUMNS);
    for (uint32_t i = 0; i < v.n * v.d; i++)
        fuzz_check(v.known[i / v.d] ? !isnan(v.row[i]) : v.row[i] == 0);
    gf_word_vectors_release(&v);
    return 0;
}
