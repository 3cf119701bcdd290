#include "base/hex.h"

int gf_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void gf_hex_append(gf_buffer *out, gf_slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte = (unsigned char)bytes.ptr[i];
        gf_buffer_byte(out, digits[byte >> 4]);
        gf_buffer_byte(out, digits[byte & 15]);
    }
}

bool gf_hex_read(gf_slice digits, gf_buffer *out)
{
    if (digits.len % 2) return false;
    for (size_t i = 0; i < digits.len; i++)
        if (gf_hex_digit(digits.ptr[i]) < 0) return false;
    for (size_t i = 0; i < digits.len; i += 2)
        gf_buffer_byte(out,
                       (char)(gf_hex_digit(digits.ptr[i]) << 4 | gf_hex_digit(digits.ptr[i + 1])));
    return true;
}
