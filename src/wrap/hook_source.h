/* The text of hook.c, put into the library by the build (embed.py). */
#pragma once

extern const char hook_source[];
