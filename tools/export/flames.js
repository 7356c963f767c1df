// SPDX-License-Identifier: Apache-2.0 OR MIT
// The flame graph, which a click zooms, and the table of functions.
(function (page) {
	"use strict";
	var DEPTH_MAX = 200, ROWS_MAX = 200;
	var any = { calls: 0, samples: 0 };
	var zoomed = 0, deepest = 0, flame, i;
	// A node's parent comes before it.
	var nodes = DATA.tree.map(function (n, i) {
		return { parent: n[0], index: n[1], calls: n[2], samples: n[3],
			 width: n[4], self: n[4], marked: n[5] ? "~" : "", children: [], depth: 0, id: i };
	});

	// Of the functions.
	nodes.forEach(function (n) {
		if (n.index >= 0) {
			any.calls += n.calls;
			any.samples += n.samples;
		}
	});
	for (i = nodes.length - 1; i; i--)
		nodes[nodes[i].parent].width += nodes[i].width;
	for (i = 1; i < nodes.length; i++) {
		nodes[nodes[i].parent].children.push(nodes[i]);
		nodes[i].depth = nodes[nodes[i].parent].depth + 1;
		deepest = Math.max(deepest, nodes[i].depth);
	}
	nodes.forEach(function (n) {
		n.children.sort(function (a, b) { return b.width - a.width; });
	});

	function name(n) {
		return n.index === -1 ? "all" : n.index < -1 ?
			DATA.threads[-2 - n.index] : DATA.functions[n.index];
	}

	// The number of calls and samples, if the trace has any.
	function counted(n) {
		return (any.calls ? ", " + n.calls + " calls" : "") +
		       (any.samples ? ", " + n.samples + " samples" : "");
	}

	function share(n) {
		return (100 * n / (nodes[0].width || 1)).toFixed(2) + "%";
	}

	// ---- flame graph -------------------------------------------------

	// The boxes' positions, as fractions of the page, when this node fills it.
	function place(n) {
		nodes.forEach(function (m) { m.shown = 0; });
		n.left = 0;
		n.shown = 1;
		nodes.slice(n.id).forEach(function (m) {
			var left = m.left;

			if (!m.shown)
				return;
			m.children.forEach(function (child) {
				child.left = left;
				child.shown = m.width ? m.shown * child.width / m.width : 0;
				left += child.shown;
			});
		});
		for (; n.id; n = nodes[n.parent]) {
			nodes[n.parent].left = 0;
			nodes[n.parent].shown = 1;
		}
	}

	function drawFlame() {
		var c = flame;

		c.g.clearRect(0, 0, c.w, c.h);
		place(nodes[zoomed]);
		nodes.forEach(function (m) {
			if (m.shown * c.w < 0.3 || m.depth > DEPTH_MAX)
				return;
			page.box(c, m.left * c.w, m.depth * page.ROW, m.shown * c.w,
				 m.index < 0 ? "#ccc" : page.fill(m.index), name(m));
		});
	}

	function nodeAt(event) {
		var depth = Math.floor(event.offsetY / page.ROW);
		var x = event.offsetX / flame.w;

		return nodes.find(function (n) {
			return n.depth === depth && n.shown && x >= n.left &&
			       x < n.left + n.shown;
		});
	}

	page.heading("Flame graph", "by " + DATA.weight +
		     "; a click makes a call as wide as the page");
	flame = page.canvas(document.body, (Math.min(deepest, DEPTH_MAX) + 1) *
					   page.ROW);
	flame.id = "flame";
	flame.addEventListener("click", function (event) {
		var n = nodeAt(event);

		if (n)
			zoomed = n.id;
		drawFlame();
	});
	flame.addEventListener("mousemove", function (event) {
		var n = nodeAt(event);

		page.tip(event, n && name(n) + "\n" + n.marked + page.weight(n.width) + " (" +
			 share(n.width) + "), itself " + n.marked +
			 page.weight(n.self) +
			 (n.index < 0 ? "" : counted(n)));
	});
	flame.addEventListener("mouseleave", function (event) { page.tip(event); });

	// ---- functions ---------------------------------------------------

	var rows = DATA.functions.map(function (f, i) {
		return { name: f, index: i, calls: 0, samples: 0, total: 0,
			 self: 0, marked: "" };
	});
	var active = rows.map(function () { return 0; });
	var path = [nodes[0]];
	var order = "self", table, body;

	// Down the tree and up again: a call within one of its own function is
	// part of that one's total.
	while (path.length) {
		var n = path[path.length - 1];

		n.visited = (n.visited || 0) + 1;
		if (n.visited === 1 && n.index >= 0) {
			rows[n.index].calls += n.calls;
			rows[n.index].samples += n.samples;
			rows[n.index].self += n.self;
			rows[n.index].marked = rows[n.index].marked || n.marked;
			if (!active[n.index]++)
				rows[n.index].total += n.width;
		}
		if (n.visited <= n.children.length) {
			path.push(n.children[n.visited - 1]);
		} else {
			path.pop();
			if (n.index >= 0)
				active[n.index]--;
		}
	}
	rows = rows.filter(function (r) { return r.calls || r.samples; });

	function drawTable() {
		var shown = rows.filter(function (r) {
			return !page.pattern || page.matches[r.index];
		});
		var found = { calls: 0, samples: 0 }, self = 0;

		shown.sort(function (a, b) {
			return order === "name" ? (a.name < b.name ? -1 : 1) :
						  b[order] - a[order];
		});
		shown.forEach(function (r) {
			found.calls += r.calls;
			found.samples += r.samples;
			self += r.self;
		});
		body.textContent = "";
		shown.slice(0, ROWS_MAX).forEach(function (r) {
			var row = page.element("tr", body);

			["calls", "samples"].forEach(function (what) {
				if (any[what])
					page.element("td", row, String(r[what]));
			});
			page.element("td", row, r.marked + page.weight(r.total));
			page.element("td", row, r.marked + page.weight(r.self));
			page.element("td", row, share(r.self));
			page.element("td", row, r.name).addEventListener("click",
				function () {
					page.find("^" + r.name.replace(
						/[.*+?^${}()|[\]\\]/g, "\\$&") + "$");
				});
		});
		if (shown.length > ROWS_MAX)
			page.element("td", page.element("tr", body),
				     (shown.length - ROWS_MAX) + " more");
		page.found.textContent = page.pattern ? "found " + shown.length +
			(shown.length === 1 ? " function" : " functions") +
			counted(found) + ", itself " + page.weight(self) + " (" +
			share(self) + ")" : "";
	}

	page.heading("Functions", "by " + DATA.weight +
		     "; a click on a column sorts, on a name finds it");
	table = page.element("table", document.body);
	table.id = "functions";
	var head = page.element("tr", page.element("thead", table));
	[["calls", "calls"], ["samples", "samples"], ["total", "total"], ["self", "self"],
	 ["self", "self%"], ["name", "function"]].forEach(function (column) {
		if (any[column[0]] === 0)
			return;
		var cell = page.element("th", head, column[1]);

		cell.addEventListener("click", function () {
			order = column[0];
			drawTable();
		});
	});
	body = page.element("tbody", table);

	page.views.push({
		draw: function () {
			drawFlame();
			drawTable();
		},
		home: function () { zoomed = 0; },
		resize: function () { flame.resize(); },
	});
}(PAGE));
