// SPDX-License-Identifier: Apache-2.0 OR MIT
// Draws the page that html.c writes: time line, counters and flame graph.
// The wheel zooms the time line and its counters, dragging moves them; a click
// on the flame graph makes a call fill it; the search marks functions.
(function () {
	"use strict";
	var ROW = 17, LABEL = 15, PLOT = 70;
	var pattern = null, view, whole = 1, zoomed = 0;

	function element(kind, parent, text) {
		var e = document.createElement(kind);

		if (text)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	var bar = element("div", document.body);
	bar.id = "bar";
	var search = element("input", bar);
	search.id = "search";
	search.placeholder = "search functions (regular expression)";
	var reset = element("button", bar, "whole trace");
	var status = element("span", bar);
	status.id = "status";
	var tip = element("div", document.body);
	tip.id = "tip";

	function time(ticks) {
		var units = ["ns", "us", "ms", "s"], i = 0, t;

		if (!DATA.hz)
			return Math.round(ticks) + " ticks";
		t = ticks / DATA.hz * 1e9;
		while (t >= 999.9995 && i < 3) {
			t /= 1000;
			i++;
		}
		return t.toFixed(3) + " " + units[i];
	}

	function number(n) {
		var letters = ["", "k", "M", "G", "T"], i = 0;

		while (n >= 9999.5 && i < 4) {
			n /= 1000;
			i++;
		}
		return (i ? n.toFixed(1) : String(Math.round(n * 100) / 100)) +
		       letters[i];
	}

	function colour(name) {
		var hash = 2166136261, i;

		for (i = 0; i < name.length; i++)
			hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
		return "rgb(" + (205 + hash % 50) + "," +
		       (80 + Math.floor(hash / 50) % 130) + "," +
		       Math.floor(hash / 6500) % 55 + ")";
	}

	var colours = DATA.functions.map(colour);
	var matches = DATA.functions.map(function () { return false; });

	function canvas(parent, height) {
		var c = element("canvas", parent), ratio = devicePixelRatio || 1;

		c.resize = function () {
			c.w = Math.max(300, document.body.clientWidth - 4);
			c.h = height;
			c.width = c.w * ratio;
			c.height = c.h * ratio;
			c.style.width = c.w + "px";
			c.style.height = c.h + "px";
			c.g = c.getContext("2d");
			c.g.scale(ratio, ratio);
			c.g.font = "11px monospace";
			c.g.textBaseline = "middle";
		};
		c.resize();
		return c;
	}

	function box(c, x, y, width, fill, text) {
		var letters;

		c.g.fillStyle = fill;
		c.g.fillRect(x, y, Math.max(width - 0.4, 0.4), ROW - 1);
		letters = Math.floor((Math.min(x + width, c.w) - Math.max(x, 0) - 5) / 6.7);
		if (letters < 3)
			return;
		c.g.fillStyle = "#000";
		c.g.fillText(text.length <= letters ? text :
			     text.slice(0, letters - 2) + "..",
			     Math.max(x, 0) + 3, y + ROW / 2);
	}

	function fill(index) {
		return pattern && matches[index] ? "#e0f" : colours[index];
	}

	// ---- time line ---------------------------------------------------

	var lanes = DATA.threads.map(function (name) {
		return { name: name, depth: 0, slices: [] };
	});
	var used, timeline, plots = [];

	DATA.slices.forEach(function (s) {
		var lane = lanes[s[0]];

		lane.slices.push(s);
		lane.depth = Math.max(lane.depth, s[1] + 1);
		whole = Math.max(whole, s[3] + s[4]);
	});
	lanes.forEach(function (lane) {
		lane.slices.sort(function (a, b) { return a[3] - b[3] || a[1] - b[1]; });
		lane.depth = Math.min(lane.depth, 60);
	});
	DATA.plots.forEach(function (p) {
		whole = Math.max(whole, p.count.length * DATA.interval);
	});
	used = lanes.filter(function (lane) { return lane.slices.length; });
	view = [0, whole];

	function scale(c, t) {
		return (t - view[0]) / (view[1] - view[0]) * c.w;
	}

	function drawTimeline() {
		var c = timeline, y = 0;

		c.g.clearRect(0, 0, c.w, c.h);
		used.forEach(function (lane) {
			var ends = [];

			c.g.fillStyle = "#444";
			c.g.fillText(lane.name, 3, y + LABEL / 2);
			y += LABEL;
			lane.y = y;
			lane.slices.forEach(function (s) {
				var x = scale(c, s[3]), w = s[4] / (view[1] - view[0]) * c.w;

				// Nothing to see, or under what is drawn already.
				if (x > c.w || x + w < 0 || s[1] >= lane.depth ||
				    x + w < (ends[s[1]] || 0))
					return;
				ends[s[1]] = Math.max(x + w, x + 0.4);
				box(c, x, y + s[1] * ROW, w, fill(s[2]),
				    DATA.functions[s[2]]);
			});
			y += lane.depth * ROW + 6;
		});
	}

	function drawPlot(plot) {
		var c = plot.canvas, most = 1, i, x, bins = plot.count;
		var first = Math.max(0, Math.floor(view[0] / DATA.interval));
		var last = Math.min(bins.length, Math.ceil(view[1] / DATA.interval) + 1);

		c.g.clearRect(0, 0, c.w, c.h);
		for (i = first; i < last; i++)
			most = Math.max(most, bins[i]);
		c.g.fillStyle = "#58a";
		for (i = first; i < last; i++) {
			x = scale(c, i * DATA.interval);
			c.g.fillRect(x, c.h - bins[i] / most * (c.h - 16),
				     Math.max(1, DATA.interval / (view[1] - view[0]) * c.w),
				     bins[i] / most * (c.h - 16));
		}
		c.g.fillStyle = "#444";
		c.g.fillText(plot.counter + ", " + DATA.threads[plot.thread] +
			     ": up to " + number(most) + " in " +
			     time(DATA.interval), 3, 8);
	}

	function drawTimes() {
		if (timeline)
			drawTimeline();
		plots.forEach(drawPlot);
		status.textContent = time(view[0]) + " to " + time(view[1]) +
				     " of " + time(whole);
	}

	function showTip(event, text) {
		tip.style.display = text ? "block" : "none";
		tip.textContent = text || "";
		tip.style.left = Math.min(event.clientX + 12, innerWidth - 320) + "px";
		tip.style.top = event.clientY + 12 + "px";
	}

	function zoomTimes(middle, factor) {
		var span = Math.max(2, Math.min(whole, (view[1] - view[0]) * factor));
		var from = middle - (middle - view[0]) * span / (view[1] - view[0]);

		from = Math.max(0, Math.min(whole - span, from));
		view = [from, from + span];
		drawTimes();
	}

	function navigate(c) {
		var drag = null;

		c.addEventListener("wheel", function (event) {
			event.preventDefault();
			zoomTimes(view[0] + event.offsetX / c.w * (view[1] - view[0]),
				  event.deltaY > 0 ? 1.3 : 1 / 1.3);
		}, { passive: false });
		c.addEventListener("mousedown", function (event) {
			drag = event.clientX;
		});
		addEventListener("mouseup", function () { drag = null; });
		c.addEventListener("mousemove", function (event) {
			var move;

			if (drag === null)
				return;
			move = (drag - event.clientX) / c.w * (view[1] - view[0]);
			move = Math.max(-view[0], Math.min(whole - view[1], move));
			view = [view[0] + move, view[1] + move];
			drag = event.clientX;
			drawTimes();
		});
		c.addEventListener("mouseleave", function (event) { showTip(event); });
	}

	function sliceAt(event) {
		var t = view[0] + event.offsetX / timeline.w * (view[1] - view[0]);
		var slack = (view[1] - view[0]) / timeline.w, hit = null;

		used.forEach(function (lane) {
			var depth = Math.floor((event.offsetY - lane.y) / ROW);

			if (depth < 0 || depth >= lane.depth)
				return;
			lane.slices.forEach(function (s) {
				if (s[1] === depth && s[3] <= t + slack &&
				    s[3] + s[4] >= t - slack)
					hit = s;
			});
		});
		return hit;
	}

	if (used.length) {
		element("h2", document.body, "Time line").title =
			"wheel: zoom, drag: move";
		if (DATA.left_out)
			element("small", document.body.lastChild, " (" +
				DATA.left_out + " calls shorter than " +
				time(DATA.least) + " are not drawn)");
		timeline = canvas(document.body, used.reduce(function (sum, lane) {
			return sum + LABEL + lane.depth * ROW + 6;
		}, 0));
		navigate(timeline);
		timeline.addEventListener("mousemove", function (event) {
			var s = sliceAt(event);

			showTip(event, s && DATA.functions[s[2]] + "\n" +
				time(s[4]) + " from " + time(s[3]));
		});
	}

	if (DATA.plots.length)
		element("h2", document.body, "Counters");
	DATA.plots.forEach(function (data) {
		if (!data.count.length)
			return;
		data.canvas = canvas(document.body, PLOT);
		navigate(data.canvas);
		plots.push(data);
		data.canvas.addEventListener("mousemove", function (event) {
			var i = Math.floor((view[0] + event.offsetX / data.canvas.w *
					    (view[1] - view[0])) / DATA.interval);

			showTip(event, data.counter + ": " + number(data.count[i] || 0) +
				" at " + time(i * DATA.interval));
		});
	});

	// ---- flame graph -------------------------------------------------

	var nodes = DATA.tree.map(function (n, i) {
		return { parent: n[0], index: n[1], calls: n[2], width: n[3],
			 self: n[3], children: [], depth: 0, id: i };
	});
	var flame, deepest = 0, i;

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

	function place(n, left, width) {
		n.left = left;
		n.shown = width;
		if (width < 0.0002)
			return;
		n.children.forEach(function (child) {
			var w = n.width ? width * child.width / n.width : 0;

			place(child, left, w);
			left += w;
		});
	}

	function drawFlame() {
		var c = flame, n = nodes[zoomed];

		c.g.clearRect(0, 0, c.w, c.h);
		nodes.forEach(function (m) { m.shown = 0; });
		place(n, 0, 1);
		for (; n.id; n = nodes[n.parent]) {
			nodes[n.parent].left = 0;
			nodes[n.parent].shown = 1;
		}
		nodes.forEach(function (m) {
			if (m.shown * c.w < 0.3 || m.depth > 200)
				return;
			box(c, m.left * c.w, m.depth * ROW, m.shown * c.w,
			    m.index < 0 ? "#ccc" : fill(m.index), name(m));
		});
	}

	function nodeAt(event) {
		var depth = Math.floor(event.offsetY / ROW);
		var x = event.offsetX / flame.w;

		return nodes.find(function (n) {
			return n.depth === depth && n.shown && x >= n.left &&
			       x < n.left + n.shown;
		});
	}

	element("h2", document.body, "Flame graph").appendChild(
		document.createElement("small")).textContent =
		" (" + DATA.weight + "; a click makes a call fill it)";
	flame = canvas(document.body, (Math.min(deepest, 200) + 1) * ROW);
	flame.addEventListener("click", function (event) {
		var n = nodeAt(event);

		if (n)
			zoomed = n.id;
		drawFlame();
	});
	flame.addEventListener("mousemove", function (event) {
		var n = nodeAt(event), show = DATA.weight === "time" ? time : number;

		showTip(event, n && name(n) + "\n" + show(n.width) + " (" +
			(100 * n.width / (nodes[0].width || 1)).toFixed(2) +
			"%), itself " + show(n.self) + ", " + n.calls + " calls");
	});
	flame.addEventListener("mouseleave", function (event) { showTip(event); });

	// ---- all together ------------------------------------------------

	search.addEventListener("input", function () {
		try {
			pattern = search.value ? new RegExp(search.value) : null;
			search.style.background = "";
		} catch (error) {
			search.style.background = "#fdd";
			return;
		}
		matches = DATA.functions.map(function (f) {
			return pattern && pattern.test(f);
		});
		drawTimes();
		drawFlame();
	});
	reset.addEventListener("click", function () {
		view = [0, whole];
		zoomed = 0;
		drawTimes();
		drawFlame();
	});
	addEventListener("resize", function () {
		if (timeline)
			timeline.resize();
		plots.forEach(function (p) { p.canvas.resize(); });
		flame.resize();
		drawTimes();
		drawFlame();
	});
	drawTimes();
	drawFlame();
	document.body.dataset.ready = "yes";
}());
