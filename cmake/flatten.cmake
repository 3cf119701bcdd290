# The one installed header: engine/grouperfish.h with the headers of ours that it includes written in
# their places, each once.
#     cmake -D ROOT=<source tree> -D OUT=<file> -P cmake/flatten.cmake

cmake_minimum_required(VERSION 3.21)
set(seen "")

function(flatten header out_text)
    file(READ ${ROOT}/${header} text)
    # A list of CMake's reads these four in its own way.
    string(REPLACE "\\" "<backslash>" text "${text}")
    string(REPLACE ";" "<semicolon>" text "${text}")
    string(REPLACE "[" "<open>" text "${text}")
    string(REPLACE "]" "<close>" text "${text}")
    string(REPLACE "\n" ";" lines "${text}")
    set(result "")
    foreach(line IN LISTS lines)
        if("${line}" MATCHES "^#include \"([a-z_/]+\\.h)\"$")
            set(included ${CMAKE_MATCH_1})
            get_property(seen GLOBAL PROPERTY seen_headers)
            if(NOT included IN_LIST seen)
                set_property(GLOBAL APPEND PROPERTY seen_headers ${included})
                flatten(${included} part)
                string(APPEND result "${part}")
            endif()
        else()
            string(APPEND result "${line}\n")
        endif()
    endforeach()
    set(${out_text} "${result}" PARENT_SCOPE)
endfunction()

flatten(engine/grouperfish.h all)
string(REPLACE "<backslash>" "\\" all "${all}")
string(REPLACE "<semicolon>" ";" all "${all}")
string(REPLACE "<open>" "[" all "${all}")
string(REPLACE "<close>" "]" all "${all}")
file(WRITE ${OUT} "${all}")
