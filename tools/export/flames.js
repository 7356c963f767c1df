// SPDX-License-Identifier: Apache-2.0 OR MIT
// Shows the flame graph, in which a click zooms, and the table of functions.
(function (page) {
	"use strict";
	var DEPTH_MAX = 200;
	var any = { calls: 0, samples: 0 };
	var zoomed = 0, deepest = 0, flame, nodes = treeOf(DATA);

	// Return the nodes of a page's tree. A node's parent comes before it.
	function treeOf(data) {
		var nodes = data.tree.map(function (n, i) {
			return { parent: n[0], index: n[1], calls: n[2], samples: n[3],
				 within: n[3], width: n[4], self: n[4],
				 marked: n[5] ? "~" : "", totalMarked: n[5] ? "~" : "",
				 children: [], depth: 0, id: i };
		}), i;

		for (i = nodes.length - 1; i; i--) {
			nodes[nodes[i].parent].width += nodes[i].width;
			nodes[nodes[i].parent].within += nodes[i].within;
			nodes[nodes[i].parent].totalMarked = nodes[nodes[i].parent].totalMarked ||
							     nodes[i].totalMarked;
		}
		for (i = 1; i < nodes.length; i++) {
			nodes[nodes[i].parent].children.push(nodes[i]);
			nodes[i].depth = nodes[nodes[i].parent].depth + 1;
		}
		nodes.forEach(function (n) {
			n.children.sort(function (a, b) { return b.width - a.width; });
		});
		return nodes;
	}

	nodes.forEach(function (n) {
		deepest = Math.max(deepest, n.depth);
		if (n.index >= 0) {
			any.calls += n.calls;
			any.samples += n.samples;
		}
	});

	function name(n) {
		return n.index === -1 ? "all" : n.index < -1 ?
			DATA.threads[-2 - n.index] : DATA.functions[n.index];
	}

	// Return the number of calls and samples, if the trace has any.
	function counted(n) {
		return (any.calls ? ", " + n.calls + " calls" : "") +
		       (any.samples ? ", " + n.within + " samples" : "");
	}

	function share(n) {
		return (100 * n / (nodes[0].width || 1)).toFixed(2) + "%";
	}

	// ---- flame graph -------------------------------------------------

	// Compute the boxes' positions, as fractions of the page's width, when node @n fills it.
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
				 m.index < 0 ? page.theme.thread : page.fill(m.index), name(m));
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
					   page.ROW, "flame graph; the table below has its sums");
	flame.id = "flame";
	flame.addEventListener("click", function (event) {
		var n = nodeAt(event);

		if (n)
			zoomed = n.id;
		page.draw();
	});
	flame.addEventListener("pointermove", function (event) {
		var n = nodeAt(event);

		page.tip(event, n && name(n) + "\n" + n.totalMarked + page.weight(n.width) + " (" +
			 share(n.width) + "), itself " + n.marked +
			 page.weight(n.self) +
			 (n.index < 0 ? "" : counted(n)));
	});
	flame.addEventListener("pointerleave", function (event) { page.tip(event); });

	// ---- functions ---------------------------------------------------

	// Return sums by function. Walk down the tree and back up, because a recursive call is part
	// of the outer call's total. If @merged is set, functions with the same name are merged.
	function functionsOf(data, nodes, merged) {
		var named = new Map(), path = [nodes[0]], n;
		var rows = data.functions.map(function (f, i) {
			var r = merged && named.get(f) ||
				{ name: f, index: i, functions: [], calls: 0, samples: 0,
				  within: 0, total: 0, self: 0, marked: "", totalMarked: "",
				  active: 0 };

			r.functions.push(i);
			named.set(f, r);
			return r;
		});

		while (path.length) {
			n = path[path.length - 1];
			n.visited = (n.visited || 0) + 1;
			if (n.visited === 1 && n.index >= 0) {
				rows[n.index].calls += n.calls;
				rows[n.index].samples += n.samples;
				rows[n.index].self += n.self;
				rows[n.index].marked = rows[n.index].marked || n.marked;
				rows[n.index].within += n.within;
				rows[n.index].totalMarked = rows[n.index].totalMarked ||
							    n.totalMarked;
				if (!rows[n.index].active++)
					rows[n.index].total += n.width;
			}
			if (n.visited <= n.children.length) {
				path.push(n.children[n.visited - 1]);
			} else {
				path.pop();
				if (n.index >= 0)
					rows[n.index].active--;
			}
		}
		return rows.filter(function (r, i) {
			return r.index === i && (r.calls || r.within || r.total);
		});
	}

	function addCounts(rows) {
		rows.forEach(function (r) {
			r.countMarked = r.functions.some(function (i) {
				return DATA.partial[i];
			}) ? "~" : "";
		});
		DATA.counts.forEach(function (counts, c) {
			rows.forEach(function (r) {
				r["counter" + c] = r.functions.reduce(function (sum, i) {
					return sum + counts[i];
				}, 0);
			});
		});
	}

	var rows = functionsOf(DATA, nodes), table, other = null;

	addCounts(rows);

	function columns() {
		var list = [], weight = function (key, mark) {
			return function (r) { return r[mark] + page.weight(r[key]); };
		};

		["calls", "samples"].forEach(function (what) {
			if (any[what])
				list.push([what, what, function (r) { return String(r[what]); }]);
		});
		list.push(["total", "total", weight("total", "totalMarked")],
			  ["self", "self", weight("self", "marked")],
			  ["self", "self%", function (r) { return share(r.self); }]);
		if (other)
			list.push(["other", "self in the other", function (r) {
				return r.otherMarked + page.weight(r.other);
			}], ["change", "change", function (r) {
				return (r.marked || r.otherMarked) + (r.change > 0 ? "+" : r.change < 0 ? "-" : "") +
				       page.weight(Math.abs(r.change));
			}]);
		DATA.counters.forEach(function (name, c) {
			if (name !== "timestamp" && name !== DATA.weight)
				list.push(["counter" + c, name, function (r) {
					return (c < DATA.times ? "" : r.countMarked) +
					       page.count(r["counter" + c] || 0, c);
				}]);
		});
		list.push(["name", "function"]);
		return list;
	}

	function drawTable() {
		var shown = rows.filter(function (r) {
			return !page.pattern || page.pattern.test(r.name);
		});
		var found = { calls: 0, within: 0 }, self = 0;

		shown.forEach(function (r) {
			found.calls += r.calls;
			found.within += r.samples;
			self += r.self;
		});
		table.show(shown, other ? "change" : "self");
		page.found.textContent = page.pattern ? "found " + shown.length +
			(shown.length === 1 ? " function" : " functions") +
			counted(found) + ", itself " + page.weight(self) + " (" +
			share(self) + ")" : "";
	}

	// ---- comparison --------------------------------------------------

	// Return the other page's data: the JSON object that its script assigns to DATA.
	function parse(text) {
		var start = text.indexOf("\nvar DATA = {\n"), end;

		end = start < 0 ? -1 : text.indexOf("};\n", start);
		if (end < 0)
			throw new Error("it is not a page of sifive-trace export");
		return JSON.parse(text.slice(start + 12, end + 1));
	}

	function compare(data) {
		var by = new Map(), scale = data.hz && DATA.hz && DATA.weightIsTime ?
					    DATA.hz / data.hz : 1;

		if (data.weight !== DATA.weight)
			throw new Error("it was exported by " + data.weight +
					", this page by " + DATA.weight);
		if (DATA.weightIsTime && !data.hz !== !DATA.hz)
			throw new Error("the length of a tick is known in only one of the pages: " +
					"export both with --ts-hz");
		functionsOf(data, treeOf(data), true).forEach(function (r) { by.set(r.name, r); });
		rows = functionsOf(DATA, treeOf(DATA), true);
		addCounts(rows);
		rows.forEach(function (r) {
			var was = by.get(r.name);

			r.other = was ? was.self * scale : 0;
			r.otherMarked = was ? was.marked : "";
			r.change = r.self - r.other;
			by.delete(r.name);
		});
		by.forEach(function (was) {
			rows.push({ name: was.name, index: -1, calls: 0, samples: 0, total: 0,
				    self: 0, marked: "", totalMarked: "", other: was.self * scale,
				    otherMarked: was.marked, countMarked: "", change: -was.self * scale });
		});
		other = data;
		table.remove();
		makeTable();
		drawTable();
	}

	page.compare = compare;

	function open() {
		var input = document.createElement("input");

		input.type = "file";
		input.accept = ".html";
		input.addEventListener("change", function () {
			input.files[0].text().then(parse).then(compare).catch(function (error) {
				page.found.textContent = "cannot compare: " + error.message;
			});
		});
		input.click();
	}

	function makeTable() {
		table = page.table("functions", "functions", columns());
	}

	page.button(page.bar, "compare", "compare with another page of sifive-trace export", open)
		.id = "compare";
	page.heading("Functions", "by " + DATA.weight +
		     "; a click on a column sorts, on a name finds it");
	makeTable();

	// Settings of the flame graph and the table, which moving in the timeline does not change.
	var drawn = "", listed = null;

	page.views.push({
		draw: function () {
			var pattern = String(page.pattern);
			var state = [zoomed, page.theme.text, flame.w, pattern].join();

			if (state !== drawn)
				drawFlame();
			if (pattern !== listed)
				drawTable();
			drawn = state;
			listed = pattern;
		},
		home: function () { zoomed = 0; },
		resize: function () {
			flame.resize();
			drawn = "";
		},
	});
}(PAGE));
