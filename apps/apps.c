#include "apps/apps.h"

void gf_apps_register(void)
{
#ifdef GROUPERFISH_APP_TWEETS
    gf_app_register(&gf_tweets_app);
#endif
#ifdef GROUPERFISH_APP_PAPERS
    gf_app_register(&gf_papers_app);
#endif
#ifdef GROUPERFISH_APP_LOGS
    gf_app_register(&gf_logs_app);
#endif
}
