// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Replaces the formats that require protocol buffers, in a build without libprotobuf-c. */
#include "export.h"

#define NO_PROTOBUF	"it was built without libprotobuf-c; rebuild it with libprotobuf-c-dev and protobuf-c-compiler"

const struct exporter export_pprof = {
	.name = "pprof",
	.help = "profile for pprof: not in this build",
	.missing = NO_PROTOBUF,
};

const struct exporter export_perfetto = {
	.name = "perfetto",
	.help = "Perfetto's own format: not in this build",
	.missing = NO_PROTOBUF,
};
