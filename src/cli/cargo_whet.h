/* whet as a subcommand of cargo: `cargo whet build`, for which cargo starts `cargo-whet whet
 * build`. */
#pragma once

#include "cli/opt.h"

/* Whether this program was started by the name of that subcommand. */
bool cargo_whet_called(const char *argv0);
/* Takes out of the environment what cargo and rustup's proxy put into it for their subcommands, so
 * that a build is the same one as that of a plain `whet build`. A toolchain that was chosen for
 * this call (`cargo +nightly whet`, RUSTUP_TOOLCHAIN) stays. */
void cargo_whet_environment(void);
/* Sets cli->plan to the nearest whet.yaml, here or in a folder above, else to that in the root of
 * cargo's workspace. Where there is none, cli->no_plan says what to do. Call it before
 * cargo_whet_environment(), which forgets which cargo it was. */
void cargo_whet_find_plan(struct cli *cli);
