# Writes OUT, a C file with the page's files as tables of bytes, each with the hash of its content:
#
#     cmake -D FOLDER=built -D OUT=page_files.c -P embed.cmake
#
# The paths here are those of server/http/pages.c.
set(files
    "/|index.html|text/html"
    "/page/app.js|app.js|text/javascript"
    "/page/style.css|style.css|text/css"
    "/page/icon.svg|icon.svg|image/svg+xml"
    "/page/land.json|land.json|application/json"
    "/page/licences.txt|licences.txt|text/plain")

set(arrays "")
set(rows "")
set(number 0)
foreach(entry ${files})
    string(REPLACE "|" ";" parts "${entry}")
    list(GET parts 0 path)
    list(GET parts 1 name)
    list(GET parts 2 type)
    file(READ "${FOLDER}/${name}" bytes HEX)
    file(SHA256 "${FOLDER}/${name}" hash)
    string(SUBSTRING "${hash}" 0 32 hash)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
        "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${number}[] = {\n${bytes}};\n")
    string(APPEND rows "    {\"${path}\", \"${type}; charset=utf-8\", (const char *)file_${number}, "
        "sizeof file_${number}, \"\\\"${hash}\\\"\"},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "/* Made by server/page/embed.cmake. */\n#include \"server/http/pages.h\"\n\n${arrays}\n"
    "const gf_page gf_pages[] = {\n${rows}};\n"
    "const size_t gf_n_pages = sizeof gf_pages / sizeof gf_pages[0];\n")
