/* What the build of whet put in from web/, and from the kept plot library; the latter is "" in a
 * whet that was built without it. Private to src/report. */
#pragma once

extern const char page_style[], page_script[];
extern const char page_plots[], page_plots_style[], page_plots_license[];
