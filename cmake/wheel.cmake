# The wheel for Python (python/pyproject.toml): the library beside the package, in libs/ all that it needs
# but the C and C++ runtimes of the system, and in licences/ the texts of their licences. The library has an
# RPATH, not a RUNPATH: so what it loads finds its own needs in libs/ too, and nothing has to be patched.

set(wheel_folder grouperfish)
set_target_properties(grouperfish_shared PROPERTIES VERSION 0 INSTALL_RPATH "$ORIGIN/libs"
    LINK_OPTIONS "-Wl,--disable-new-dtags")
install(TARGETS grouperfish_shared LIBRARY DESTINATION ${wheel_folder} COMPONENT wheel NAMELINK_SKIP)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${wheel_folder} COMPONENT wheel)

# Those that are loaded when they are needed (gf_loads): of what comes from a network none.
set(wheel_loaded ${OPENBLAS_LINK_LIBRARIES} ${ICU_I18N_LIBRARY} ${ZLIB_LIBRARIES}
    ${ARCHIVE_LINK_LIBRARIES} ${LIBXML2_LIBRARIES} ${OPENSSL_CRYPTO_LIBRARY})
find_package(Python3 COMPONENTS Interpreter)
install(CODE "
    set(python \"${Python3_EXECUTABLE}\")
    set(source \"${CMAKE_SOURCE_DIR}\")
    set(library \"\$<TARGET_FILE:grouperfish_shared>\")
    set(loaded \"${wheel_loaded}\")"
    COMPONENT wheel)
install(CODE [[
    set(libs "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/grouperfish/libs")
    set(needed)
    foreach(file ${loaded})
        execute_process(COMMAND objdump -p ${file} OUTPUT_VARIABLE says)
        string(REGEX MATCH "SONAME +([^ \n]+)" found "${says}")
        get_filename_component(folder ${file} DIRECTORY)
        list(APPEND needed ${folder}/${CMAKE_MATCH_1})
    endforeach()
    file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${library} ${needed}
        RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so")
    if(missing)
        message(FATAL_ERROR "libraries that are not found: ${missing}")
    endif()
    file(MAKE_DIRECTORY ${libs})
    foreach(file ${found} ${needed})
        get_filename_component(name ${file} NAME)
        file(REAL_PATH ${file} real)
        file(COPY_FILE ${real} ${libs}/${name} ONLY_IF_DIFFERENT)
        list(APPEND carried ${real})
    endforeach()
    execute_process(
        COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${python}
                ${source}/packaging/wheel.py licences
                --out $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/grouperfish/licences ${carried}
        COMMAND_ERROR_IS_FATAL ANY)
]] COMPONENT wheel)
