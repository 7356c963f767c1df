// SPDX-License-Identifier: Apache-2.0 OR MIT
// The time line: a ruler, each thread's calls, and below them its counters'
// rates, all of the same stretch of time.
(function (page) {
	"use strict";
	var LABEL = 15, PLOT = 64, RULER = 18, DEPTH_MAX = 60;
	var whole = 1, view, timeline, ruler, plots = [], drag = null;
	var lanes = DATA.threads.map(function (name) {
		return { name: name, depth: 0, slices: [] };
	});

	DATA.slices.forEach(function (s) {
		var lane = lanes[s[0]];

		lane.slices.push(s);
		lane.depth = Math.max(lane.depth, s[1] + 1);
		whole = Math.max(whole, s[3] + s[4]);
	});
	lanes.forEach(function (lane) {
		lane.slices.sort(function (a, b) { return a[3] - b[3] || a[1] - b[1]; });
		lane.depth = Math.min(lane.depth, DEPTH_MAX);
	});
	whole = Math.max(whole, DATA.last - DATA.first);
	lanes = lanes.filter(function (lane) { return lane.slices.length; });
	view = [0, whole];
	if (!lanes.length && !DATA.plots.length)
		return;

	function span() {
		return view[1] - view[0];
	}

	function scale(c, t) {
		return (t - view[0]) / span() * c.w;
	}

	// The start of a counter interval, and the interval of a time.
	function begin(i) {
		return i * DATA.interval - DATA.before;
	}

	function interval(t) {
		return Math.floor((t + DATA.before) / DATA.interval);
	}

	function timeAt(c, event) {
		return view[0] + event.offsetX / c.w * span();
	}

	// ---- drawing -----------------------------------------------------

	// Ticks at round times, about as many as there is room for.
	function drawRuler() {
		var c = ruler, unit = DATA.hz ? DATA.hz / 1e9 : 1;
		var rough = span() / unit / Math.max(2, c.w / 130);
		var step = Math.pow(10, Math.floor(Math.log10(rough))), t;

		step *= rough / step > 5 ? 10 : rough / step > 2 ? 5 :
			rough / step > 1 ? 2 : 1;
		step *= unit;
		c.g.clearRect(0, 0, c.w, c.h);
		c.g.fillStyle = "#555";
		for (t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
			c.g.fillRect(scale(c, t), 0, 1, c.h);
			c.g.fillText(page.time(t), scale(c, t) + 4, c.h / 2);
		}
	}

	function drawCalls() {
		var c = timeline, y = 0;

		c.g.clearRect(0, 0, c.w, c.h);
		lanes.forEach(function (lane) {
			var ends = [];

			c.g.fillStyle = "#333";
			c.g.fillText(lane.name, 3, y + LABEL / 2);
			y += LABEL;
			lane.y = y;
			lane.slices.forEach(function (s) {
				var x = scale(c, s[3]), w = s[4] / span() * c.w;

				// Too narrow to see, or covered by another call.
				if (x > c.w || x + w < 0 || s[1] >= lane.depth ||
				    x + w < (ends[s[1]] || 0))
					return;
				ends[s[1]] = Math.max(x + w, x + 0.5);
				page.box(c, x, y + s[1] * page.ROW, w, page.fill(s[2]),
					 DATA.functions[s[2]]);
			});
			y += lane.depth * page.ROW + 6;
		});
	}

	function drawPlot(plot) {
		var c = plot.canvas, bins = plot.count, most = 0, i, height;
		var first = Math.max(0, interval(view[0]));
		var last = Math.min(bins.length, interval(view[1]) + 1);

		c.g.clearRect(0, 0, c.w, c.h);
		for (i = first; i < last; i++)
			most = Math.max(most, bins[i]);
		c.g.fillStyle = "#6b9fd4";
		for (i = first; i < last; i++) {
			height = bins[i] / (most || 1) * (c.h - 16);
			c.g.fillRect(scale(c, begin(i)), c.h - height,
				     Math.max(1, DATA.interval / span() * c.w), height);
		}
		c.g.fillStyle = "#333";
		c.g.fillText(plot.counter + ", " + DATA.threads[plot.thread] +
			     ": up to " + page.rate(most, DATA.interval), 3, 8);
	}

	function draw() {
		drawRuler();
		if (timeline)
			drawCalls();
		plots.forEach(drawPlot);
		page.status.textContent = page.time(view[0]) + " to " +
			page.time(view[1]) + " of " + page.time(whole);
	}

	// ---- moving ------------------------------------------------------

	function show(from, to) {
		var wide = Math.max(2, Math.min(whole, to - from));

		from = Math.max(0, Math.min(whole - wide, from));
		view = [from, from + wide];
		draw();
	}

	function zoom(middle, factor) {
		show(middle - (middle - view[0]) * factor,
		     middle + (view[1] - middle) * factor);
	}

	function sliceAt(event) {
		var t = timeAt(timeline, event), slack = span() / timeline.w;
		var hit = null;

		lanes.forEach(function (lane) {
			var depth = Math.floor((event.offsetY - lane.y) / page.ROW);

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

	var area = page.heading("Time line", (DATA.left_out ? DATA.left_out +
		" calls shorter than " + page.time(DATA.least) +
		" are not drawn; " : "") +
		"wheel or + -: zoom, drag or arrows: move, double click: show a call");
	area = page.element("div", document.body);
	area.id = "times";
	var cursor = page.element("div", area);
	cursor.id = "cursor";

	function navigate(c, text) {
		c.addEventListener("wheel", function (event) {
			event.preventDefault();
			zoom(timeAt(c, event), event.deltaY > 0 ? 1.3 : 1 / 1.3);
		}, { passive: false });
		c.addEventListener("mousedown", function (event) {
			drag = event.clientX;
		});
		c.addEventListener("mousemove", function (event) {
			var move;

			cursor.style.display = "block";
			cursor.style.left = c.offsetLeft + event.offsetX + "px";
			if (drag === null) {
				page.tip(event, text(event));
				return;
			}
			move = (drag - event.clientX) / c.w * span();
			drag = event.clientX;
			show(view[0] + move, view[1] + move);
		});
		c.addEventListener("mouseleave", function (event) {
			cursor.style.display = "none";
			page.tip(event);
		});
		return c;
	}

	addEventListener("mouseup", function () { drag = null; });
	addEventListener("keydown", function (event) {
		var middle = (view[0] + view[1]) / 2;
		var moves = { ArrowLeft: -0.1, ArrowRight: 0.1 };

		if (event.target === page.search || event.ctrlKey || event.altKey ||
		    event.metaKey)
			return;
		if (event.key === "+" || event.key === "=")
			zoom(middle, 1 / 1.3);
		else if (event.key === "-")
			zoom(middle, 1.3);
		else if (moves[event.key])
			show(view[0] + moves[event.key] * span(),
			     view[1] + moves[event.key] * span());
		else
			return;
		event.preventDefault();
	});

	ruler = navigate(page.canvas(area, RULER), function (event) {
		return page.time(timeAt(ruler, event));
	});
	if (lanes.length) {
		timeline = navigate(page.canvas(area, lanes.reduce(function (sum, lane) {
			return sum + LABEL + lane.depth * page.ROW + 6;
		}, 0)), function (event) {
			var s = sliceAt(event);

			return s && DATA.functions[s[2]] + "\n" +
			       (s[5] ? "~" : "") + page.time(s[4]) + " from " +
			       (s[5] ? "~" : "") + page.time(s[3]);
		});
		timeline.addEventListener("dblclick", function (event) {
			var s = sliceAt(event);

			if (s)
				show(s[3] - s[4] * 0.05, s[3] + s[4] * 1.05);
		});
	}
	DATA.plots.forEach(function (plot) {
		if (!plot.count.length)
			return;
		plot.canvas = navigate(page.canvas(area, PLOT), function (event) {
			var i = interval(timeAt(plot.canvas, event));

			return plot.counter + ": " +
			       page.rate(plot.count[i] || 0, DATA.interval) + " at " +
			       page.time(Math.max(0, begin(i)));
		});
		plots.push(plot);
	});

	var idle = DATA.plots.map(function (plot) {
		return plot.counter;
	}).filter(function (name, i, all) {
		return all.indexOf(name) === i && plots.every(function (plot) {
			return plot.counter !== name;
		});
	});
	if (idle.length)
		page.element("p", area, "Stayed 0: " + idle.join(", "));
	if (DATA.threads.length > DATA.plotted)
		page.element("p", area, "Counters of " + (DATA.threads.length -
			     DATA.plotted) + " more threads are not shown.");

	page.views.push({
		draw: draw,
		home: function () { view = [0, whole]; },
		resize: function () {
			ruler.resize();
			if (timeline)
				timeline.resize();
			plots.forEach(function (p) { p.canvas.resize(); });
		},
	});
}(PAGE));
