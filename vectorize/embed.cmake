# Writes lists of words as C, gf_<name>_lists:
#     cmake -DNAME=<name> -DLISTS=<file,file,...> -DOUTPUT=<file.c> -P embed.cmake
# A language's words are those of all files that are called <language>.txt, in the order given; lines
# that start with # are comments. vectorize/text/stop_words.c and weak_words.c read what comes out.
cmake_minimum_required(VERSION 3.21)
string(REPLACE "," ";" paths "${LISTS}")
set(languages "")
foreach(path ${paths})
    get_filename_component(language ${path} NAME_WE)
    file(READ ${path} content)
    string(REGEX REPLACE "#[^\n]*" "" content "${content}")
    string(REGEX MATCHALL "[^\n]+" lines "${content}")
    list(APPEND words_${language} ${lines})
    list(APPEND languages ${language})
endforeach()
list(REMOVE_DUPLICATES languages)
list(SORT languages)

set(arrays "")
set(table "")
foreach(language ${languages})
    list(LENGTH words_${language} n)
    list(JOIN words_${language} "\",\n    \"" quoted)
    string(APPEND arrays "static const char *const ${language}[] = {\n    \"${quoted}\",\n};\n\n")
    string(APPEND table "    {\"${language}\", ${language}, ${n}},\n")
endforeach()
list(LENGTH languages n)
file(WRITE ${OUTPUT}.new
    "/* Made from lists of words by vectorize/embed.cmake. */\n"
    "#include \"vectorize/text/stop_words_internal.h\"\n\n"
    "${arrays}"
    "const gf_stop_list gf_${NAME}_lists[] = {\n${table}};\n\n"
    "const size_t gf_n_${NAME}_lists = ${n};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
