/* The state of a project: nodes with their outputs, profiles by content, build folders by token,
 * the one slot, the lock. docs/ARCHITECTURE.md shows the folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strv.h"

struct store {
	char *root;        /* the project's state folder, absolute, symlinks resolved */
	int lock_fd;       /* open-file-description lock, held while not -1 */
	struct strv *used; /* what was taken or put since it was opened: "nodes/KEY", … */
};

#define STORE_INIT {.lock_fd = -1}

/* The folder of all states: $WHET_STATE, $XDG_CACHE_HOME/whet or ~/.cache/whet; symlinks resolved,
 * it need not exist. Caller frees; NULL on error. */
char *store_base(struct error *err);
/* Finds (and creates, with its marker) the state folder of a project: NAME-xxxxxxxxxxxx in the
 * folder of all states. The x are digits of the SHA-256 of the project's folder, so that two
 * checkouts never share state. project_root: absolute, symlinks resolved. Takes no lock. */
int store_open(struct store *s, const char *project, const char *project_root, struct error *err);
/* The folder that store_open() would find or create. Caller frees; NULL on error. */
char *store_folder(const char *project, const char *project_root, struct error *err);
/* Takes the lock; ERR_ENVIRONMENT with the holder's pid when another whet has it. The lock is gone
 * when this process and every fork of it that kept the descriptor are gone: it cannot go stale. */
int store_lock(struct store *s, struct error *err);
/* Removes temporary files that a killed whet left half written. Needs the lock. */
void store_sweep(const struct store *s);
void store_close(struct store *s);
#define auto_store __attribute__((cleanup(store_close)))
/* Notes that something was used now: for the order of store_trim(), which spares it. */
void store_use(const struct store *s, const char *kind, const char *name);

char *store_path(const struct store *s, const char *name); /* root/name; caller frees */
#define STORE_HISTORY "history.db"                         /* of builds: src/ledger */
#define STORE_CALIBRATION "calibration.json"               /* of the machine: facts/calibration.h */

/* ---- Nodes: nodes/KEY/ holds outputs; node.json in it, written last, is the proof that they are
 * complete. ---- */

/* The record of a finished node, or NULL when it is not there (never an error: an unreadable record
 * is an unfinished node, and so is a node whose outputs are not, byte for byte, those that it
 * committed). New reference. */
json_t *store_node_record(const struct store *s, const char *key);
/* Empties and creates the node's folder; *ret is its path (caller frees). */
int store_node_begin(const struct store *s, const char *key, char **ret, struct error *err);
/* Syncs the outputs and writes the record, with the outputs' digests added to it as "outputs" and
 * the time as "finished_ns". */
int store_node_commit(const struct store *s, const char *key, json_t *record, struct error *err);
char *store_node_folder(const struct store *s, const char *key); /* caller frees */

/* ---- The slot: one absolute path where every build of the project happens ---- */

/* Brings the finished build folder of a token into the slot, or an empty slot. What an interrupted
 * build left there is deleted, never used again; so is a kept folder in which any file was written
 * since (builds/TOKEN.whole tells). *ret: path (caller frees); *reused says which. */
int store_slot_begin(
	const struct store *s, const char *token, char **ret, bool *reused, struct error *err);
/* The newest time at which a file below a folder was written or changed otherwise (CLOCK_REALTIME).
 */
int store_newest(const char *folder, int64_t *ret, struct error *err);
/* Renames the slot away under its token. */
int store_slot_end(const struct store *s, const char *token, struct error *err);

/* Copies a file into profiles/SHA256.EXT, its name being its content's digest; *ret: path. */
int store_put_profile(
	const struct store *s, const char *file, char sha256[65], char **ret, struct error *err);
/* Moves a folder with a profile's files to profiles/SHA256.gcda, its name being its content's
 * digest; it must lie on the same file system. *ret: path. */
int store_put_profile_folder(
	const struct store *s, const char *folder, char sha256[65], char **ret, struct error *err);
/* Over the names and contents of all files below a folder. */
int store_folder_digest(const char *folder, char sha256[65], struct error *err);
