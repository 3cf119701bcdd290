/**
 * The applications that the program was built with (CMake: GROUPERFISH_APP_TWEETS and so on).
 */
#ifndef GF_APPS_APPS_H
#define GF_APPS_APPS_H

#include "api/app.h"

extern const gf_app gf_tweets_app, gf_papers_app, gf_logs_app;

/** Register them; the first thing that a program does. */
void gf_apps_register(void);

#endif
