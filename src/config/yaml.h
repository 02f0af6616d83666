/* A YAML file as a tree with places, read by libfyaml. Aliases share the node they name, so a file
 * cannot grow in memory; how far it would grow when written out is counted and bounded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/problems.h"

#define YAML_FILE_MAX ((size_t)1 << 20)
#define YAML_NODES_MAX 100000 /* in the file, and once aliases are written out */
#define YAML_DEPTH_MAX 32
#define YAML_KEYS_MAX 1000 /* in one mapping */
#define YAML_ANCHORS_MAX 1000

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING };

struct node {
	enum node_kind kind;
	bool plain; /* a scalar without quotes */
	bool open;  /* still being read */
	int line, column;
	char *text;          /* scalar: its text; never NULL, holds no NUL byte */
	struct node **items; /* sequence: items; mapping: key, value, key, value, … */
	size_t n, cap;       /* of items */
	uint64_t size;       /* nodes below and itself, aliases written out */
};

struct yaml {
	struct node *root; /* NULL when the file could not be read as YAML */
	struct node **all; /* owns every node */
	size_t n_all, cap_all;
};

/* Reads text. Faults go to ps; then root is NULL. */
void yaml_read(const char *text, size_t n, struct yaml *ret, struct problems *ps);
void yaml_release(struct yaml *y);

/* The value of a key; NULL when m is NULL, no mapping, or lacks it. */
const struct node *node_get(const struct node *m, const char *key);
/* Plain and empty, "~" or "null". */
bool node_is_null(const struct node *n);
/* "a list", "a mapping", "nothing", "'x'", "the quoted text 'x'" for messages; caller frees. */
char *node_describe(const struct node *n);

#define auto_yaml __attribute__((cleanup(yaml_release)))
