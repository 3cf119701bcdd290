/**
 * GF_PUBLIC_BEGIN and GF_PUBLIC_END stand around the declarations of a public header: they are C's, and
 * the only ones that the shared library exports.
 */
#ifndef GF_GROUPERFISH_EXPORT_H
#define GF_GROUPERFISH_EXPORT_H

#ifdef __cplusplus
#define GF_PUBLIC_C_BEGIN extern "C" {
#define GF_PUBLIC_C_END   }
#else
#define GF_PUBLIC_C_BEGIN
#define GF_PUBLIC_C_END
#endif

#ifdef __GNUC__
#define GF_PUBLIC_BEGIN GF_PUBLIC_C_BEGIN _Pragma("GCC visibility push(default)")
#define GF_PUBLIC_END   _Pragma("GCC visibility pop") GF_PUBLIC_C_END
#else
#define GF_PUBLIC_BEGIN GF_PUBLIC_C_BEGIN
#define GF_PUBLIC_END   GF_PUBLIC_C_END
#endif

#endif
