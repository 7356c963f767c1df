/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the trace nodes of the device tree, and their state. */
#ifndef SIFIVE_TRACE_NODES_H
#define SIFIVE_TRACE_NODES_H

#include <stdbool.h>

/* Maximum number of nodes, more than any machine has. */
#define NODES_MAX	128

/** enum node_state - state of a trace node */
enum node_state {
	NODE_BOUND,	/* the module uses it */
	NODE_DISABLED,	/* disabled by its status property */
	NODE_OLDER,	/* the compatible predates the binding */
	NODE_FOREIGN,	/* another driver is bound to its device */
	NODE_REFUSED,	/* the module's probe failed */
	NODE_WAITING,	/* the device waits for a supplier */
	NODE_IDLE,	/* no driver is bound to its device */
};

/**
 * struct trace_node - a node whose compatible begins with "sifive,trace"
 * @path:	path in the device tree, "/soc/trace@100000"
 * @compatible:	the string that begins with "sifive,trace"
 * @funnel:	set for a funnel
 * @state:	state of the node
 * @device:	platform device of the node, or empty if the node has no device
 * @detail:	driver for NODE_FOREIGN; reason for NODE_REFUSED; supplier for NODE_WAITING, or
 *		empty if the supplier has no device
 * @memory:	for NODE_BOUND: "reserved: N bytes" or "allocated: N bytes", where N is the size of
 *		the largest buffer, or 0 if unknown; "unusable: REASON"; or "none" without an SBA
 *		sink
 */
struct trace_node {
	char path[256];
	char compatible[64];
	bool funnel;
	enum node_state state;
	char device[64];
	char detail[128];
	char memory[128];
};

/** nodes_module() - return whether the module is loaded or built in */
bool nodes_module(void);

/** nodes_find() - store up to NODES_MAX nodes in @nodes; return their number */
unsigned int nodes_find(struct trace_node *nodes);

#endif /* SIFIVE_TRACE_NODES_H */
