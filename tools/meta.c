// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "meta.h"
#include "nexus/nexus.h"

/* An integer from 0 to @most, -1 when absent or something else. */
static int number(const char *path, struct json_object *object,
		  const char *key, int most)
{
	struct json_object *value;
	int64_t n;

	if (!json_object_object_get_ex(object, key, &value))
		return -1;
	n = json_object_get_int64(value);
	if (!json_object_is_type(value, json_type_int) || n < 0 || n > most) {
		report("%s: \"%s\" is not a number from 0 to %d: ignored",
		       path, key, most);
		return -1;
	}
	return (int)n;
}

static int scheme(const char *path, struct json_object *object)
{
	struct json_object *value;
	const char *name;

	if (!json_object_object_get_ex(object, "ts_scheme", &value))
		return -1;
	name = json_object_get_string(value);
	if (name && !strcmp(name, "xor"))
		return NEXUS_TS_XOR;
	if (name && !strcmp(name, "delta"))
		return NEXUS_TS_DELTA;
	report("%s: \"ts_scheme\" is neither \"xor\" nor \"delta\": ignored",
	       path);
	return -1;
}

void meta_read(const char *trace, struct meta *meta)
{
	struct json_object *object, *value;
	char path[PATH_MAX];
	int length;

	*meta = (struct meta){ -1, -1, -1, -1 };
	length = snprintf(path, sizeof(path), "%s.meta", trace);
	if (!strcmp(trace, "-") || length >= (int)sizeof(path) ||
	    access(path, F_OK))
		return;
	object = json_object_from_file(path);
	if (!json_object_is_type(object, json_type_object)) {
		report("%s: no JSON object: ignored", path);
		json_object_put(object);
		return;
	}
	meta->src_bits = number(path, object, "srcbits", NEXUS_SRC_BITS_MAX);
	meta->ts_width = number(path, object, "ts_width", 64);
	meta->ts_scheme = scheme(path, object);
	if (json_object_object_get_ex(object, "wrapped", &value))
		meta->wrapped = json_object_get_boolean(value);
	json_object_put(object);
}
