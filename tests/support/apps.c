/* For tests of what the applications add: they are registered before main. */
#include "apps/apps.h"

__attribute__((constructor)) static void register_apps(void)
{
    gf_apps_register();
}
