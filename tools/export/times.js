// SPDX-License-Identifier: Apache-2.0 OR MIT
// The timeline: a ruler, each thread's calls, and below them its counters' rates, all for the
// same time range.
(function (page) {
	"use strict";
	// A strip above each thread's calls shows when it was on and off the CPU.
	var STRIP = DATA.spans.length ? 7 : 0;
	var LABEL = 15 + STRIP, PLOT = 64, RULER = 18, LEVELS_MAX = 1000, TALL = 0.65;
	var whole = Math.max(1, CALLS.end, DATA.last - DATA.first);
	var range = null, timeline, area, frame, ruler, plots = [];
	var tall = 0, pending = [], lanes, laneOf = [];

	// The time of the run that the trace does not cover, before its first record or after its
	// last one. If its length is unknown, assume a fixed share of the trace's length.
	var run = DATA.coverage.run_seconds, traced = DATA.coverage.trace_seconds;
	var lacks = run && traced ? Math.max(0, run - traced) * DATA.hz : 0;
	var before = DATA.coverage.part === "last" ? lacks || whole / 25 : 0;
	var after = DATA.coverage.part === "first" ? lacks || whole / 25 : 0;
	var limits = [-before, whole + after], view = null;

	function home() {
		view = [-Math.min(before, whole / 25), whole + Math.min(after, whole / 25)];
	}
	home();

	lanes = DATA.levels.map(function (levels, thread) {
		return { name: DATA.threads[thread], thread: thread, losses: [], spans: [],
			 levels: Math.min(levels, LEVELS_MAX) };
	});
	DATA.spans.forEach(function (span) {
		lanes[span[0]].spans.push(span);
	});
	lanes = lanes.filter(function (lane) { return lane.levels || lane.spans.length; });
	lanes.forEach(function (lane) {
		lane.y = tall + LABEL;
		tall += LABEL + lane.levels * page.ROW + 6;
		laneOf[lane.thread] = lane;
		lane.ends = lane.spans.map(function (span) { return span[2] + span[3]; });
	});
	DATA.losses.forEach(function (loss) {
		if (laneOf[loss[0]])
			laneOf[loss[0]].losses.push(loss[1]);
	});
	lanes.forEach(function (lane) {
		lane.losses.sort(function (a, b) { return a - b; });
	});
	page.times = { range: function () { return range; } };
	if (!lanes.length && !DATA.plots.length)
		return;

	function span() {
		return view[1] - view[0];
	}

	function scale(c, t) {
		return (t - view[0]) / span() * c.w;
	}

	// begin() returns the start of a counter interval; interval() returns the one that contains
	// @t.
	function begin(i) {
		return i * DATA.interval - DATA.before;
	}

	function interval(t) {
		return Math.floor((t + DATA.before) / DATA.interval);
	}

	// Return the first index of a time later than @t.
	function later(times, t) {
		return CALLS.search(times.length, function (i) { return times[i] > t; });
	}

	function timeAt(c, event) {
		return view[0] + event.offsetX / c.w * span();
	}

	// ---- drawing -----------------------------------------------------

	function drawRange(c) {
		if (!range)
			return;
		c.g.fillStyle = page.theme.range;
		c.g.fillRect(scale(c, range[0]), 0,
			     Math.max(1, (range[1] - range[0]) / span() * c.w), c.h);
	}

	// Shade the time of the run that the trace does not cover.
	function drawUncovered(c) {
		c.g.fillStyle = page.theme.uncovered;
		if (view[0] < 0)
			c.g.fillRect(0, 0, scale(c, 0), c.h);
		if (view[1] > whole)
			c.g.fillRect(scale(c, whole), 0, c.w - scale(c, whole), c.h);
	}

	// Tick marks at round times, about as many as there is room for.
	function drawRuler() {
		var c = ruler, unit = DATA.hz ? DATA.hz / 1e9 : 1;
		var rough = span() / unit / Math.max(2, c.w / 130);
		var step = Math.pow(10, Math.floor(Math.log10(rough))), t;

		step *= rough / step > 5 ? 10 : rough / step > 2 ? 5 :
			rough / step > 1 ? 2 : 1;
		step *= unit;
		c.g.clearRect(0, 0, c.w, c.h);
		drawUncovered(c);
		c.g.fillStyle = page.theme.muted;
		for (t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
			c.g.fillRect(scale(c, t), 0, 1, c.h);
			c.g.fillText(page.time(t), scale(c, t) + 4, c.h / 2);
		}
		drawRange(c);
	}

	// Areas of calls that are too short to be drawn individually, by thread: [left, right, y,
	// height]. Adjacent areas are merged.
	var held = new Map();

	function drawHeld(c) {
		c.g.fillStyle = page.theme.short;
		held.forEach(function (area) {
			c.g.fillRect(area[0], area[2], Math.max(area[1] - area[0], 0.5), area[3]);
		});
		held.clear();
	}

	function hold(c, thread, area) {
		var before = held.get(thread);

		if (before && before[2] === area[2] && before[3] === area[3] &&
		    area[0] >= before[0] && area[0] <= before[1] + 1) {
			before[1] = Math.max(before[1], area[1]);
			return;
		}
		if (before)
			drawHeld(c);
		held.set(thread, area);
	}

	function drawShort(c, top, chunk) {
		var left = Math.max(0, scale(c, chunk.first));
		var right = Math.min(c.w, scale(c, chunk.last)), i, lane, y, height;

		for (i = 0; i < chunk.lanes.length; i += 4) {
			lane = laneOf[chunk.lanes[i]];
			if (!lane || chunk.lanes[i + 1] >= lane.levels)
				continue;
			y = lane.y - top + chunk.lanes[i + 1] * page.ROW;
			height = (Math.min(chunk.lanes[i + 2] + 1, lane.levels) -
				  chunk.lanes[i + 1]) * page.ROW - 1;
			if (y + height > 0 && y < c.h)
				hold(c, lane.thread, [left, right, y, height]);
		}
	}

	function drawPoint(c, x, y) {
		c.g.fillStyle = page.theme.point;
		c.g.beginPath();
		c.g.arc(x, y + page.ROW / 2, 2.5, 0, 7);
		c.g.fill();
	}

	// Return the rows that the canvas shows: [thread, depth, y].
	function rowsShown(c, top) {
		var rows = [];

		lanes.forEach(function (lane) {
			var y = lane.y - top;
			var depth = Math.max(0, Math.floor(-y / page.ROW));

			for (; depth < lane.levels && y + depth * page.ROW <= c.h; depth++)
				rows.push([lane.thread, depth, y + depth * page.ROW]);
		});
		return rows;
	}

	// Draw the calls of a row. Calls that would be hidden by a call that is already drawn are
	// skipped.
	function drawRow(c, row, chunk, data) {
		var unit = c.w / span(), end = -1, y = row[2];

		CALLS.row(chunk, data, row[0], row[1], view[0], view[1], function (i) {
			var x = (data.begin[i] - view[0]) * unit, w = data.length[i] * unit;

			if (x + w >= end) {
				end = Math.max(x + w, x + 1);
				if (data.flags[i] & 2)
					drawPoint(c, x, y);
				else
					page.box(c, x, y, w, page.fill(data.name[i]),
						 DATA.functions[data.name[i]]);
			}
			return view[0] + end / unit;
		});
	}

	// Draw a thread's strip, which shows time on and off the CPU. In each pixel, only the first
	// period that ends there is drawn.
	function drawSpans(c, lane, y) {
		var ends = lane.ends, i = later(ends, view[0]), part, x, w;

		while (i < ends.length) {
			part = lane.spans[i];
			x = scale(c, part[2]);
			w = Math.max(part[3] / span() * c.w, 1);
			if (x > c.w)
				break;
			c.g.fillStyle = page.theme[DATA.states[part[1]]] || page.theme.muted;
			c.g.fillRect(x, y, w, STRIP - 2);
			i = Math.max(i + 1, later(ends, view[0] + (Math.floor(x + w) + 1) / c.w * span()));
		}
	}

	// Draw at most one line in each pixel.
	function drawLosses(c, lane, y) {
		var times = lane.losses, i = later(times, view[0] - 1);

		c.g.fillStyle = page.theme.loss;
		while (i < times.length && times[i] <= view[1]) {
			c.g.fillRect(scale(c, times[i]), y - LABEL, 2,
				     LABEL + lane.levels * page.ROW);
			i = Math.max(i + 1, later(times, times[i] + span() / c.w));
		}
	}

	function drawLanes(c, top) {
		lanes.forEach(function (lane) {
			var y = lane.y - top;

			if (y + lane.levels * page.ROW < 0 || y - LABEL > c.h)
				return;
			c.g.fillStyle = page.theme.text;
			c.g.fillText(lane.name, 3, y - STRIP - (LABEL - STRIP) / 2);
			drawSpans(c, lane, y - STRIP);
			drawLosses(c, lane, y);
		});
	}

	function drawCalls() {
		var c = timeline, top = Math.round(area.scrollTop), least = span() / c.w, here = [];
		var rows = rowsShown(c, top);

		c.g.clearRect(0, 0, c.w, c.h);
		drawUncovered(c);
		pending = [];
		CALLS.chunks(view[0], view[1], least, function (chunk) {
			here.push(chunk);
		}, function (chunk) {
			drawShort(c, top, chunk);
		});
		drawHeld(c);
		CALLS.needs(here.length);
		here.forEach(function (chunk) {
			var data = CALLS.data(chunk, redraw);

			if (data)
				rows.forEach(function (row) { drawRow(c, row, chunk, data); });
			else
				pending.push(chunk);
		});
		drawLanes(c, top);
		drawRange(c);
	}

	// Return a promise that resolves once all data of the view is available.
	page.settled = function () {
		return Promise.all(pending.map(CALLS.load));
	};

	// Return the rate of a plot's counter; for times on and off the CPU, the share of time.
	function rate(plot, count) {
		return plot.time ? (100 * count / DATA.interval).toPrecision(3) + "%" :
				   page.rate(count, DATA.interval);
	}

	function drawPlot(plot) {
		var c = plot.canvas, bins = plot.count, most = 0, i, height;
		var first = Math.max(0, interval(view[0]));
		var last = Math.min(bins.length, interval(view[1]) + 1);

		c.g.clearRect(0, 0, c.w, c.h);
		drawUncovered(c);
		for (i = first; i < last; i++)
			most = Math.max(most, bins[i]);
		c.g.fillStyle = page.theme.plot;
		for (i = first; i < last; i++) {
			height = bins[i] / (most || 1) * (c.h - 16);
			c.g.fillRect(scale(c, begin(i)), c.h - height,
				     Math.max(1, DATA.interval / span() * c.w), height);
		}
		c.g.fillStyle = page.theme.text;
		c.g.fillText(plot.counter + ", " + DATA.threads[plot.thread] +
			     ": up to " + rate(plot, most), 3, 8);
		drawRange(c);
	}

	function draw() {
		drawRuler();
		if (timeline)
			drawCalls();
		plots.forEach(drawPlot);
		page.status.textContent = page.time(view[0]) + " to " +
			page.time(view[1]) + " of " + page.time(whole);
	}

	// Draw once in the next frame, regardless of the number of requests.
	var due = false;
	function redraw() {
		if (due)
			return;
		due = true;
		requestAnimationFrame(function () {
			due = false;
			draw();
		});
	}

	// ---- moving ------------------------------------------------------

	function show(from, to) {
		var wide = Math.max(2, Math.min(limits[1] - limits[0], to - from));

		from = Math.max(limits[0], Math.min(limits[1] - wide, from));
		view = [from, from + wide];
		draw();
	}

	function zoom(middle, factor) {
		show(middle - (middle - view[0]) * factor,
		     middle + (view[1] - middle) * factor);
	}

	page.times.show = function (from, to, lane, depth) {
		var y;

		show(from, to);
		if (!laneOf[lane])
			return;
		y = laneOf[lane].y + depth * page.ROW;
		if (y < area.scrollTop || y + page.ROW > area.scrollTop + timeline.h)
			area.scrollTop = Math.max(0, y - timeline.h / 2);
	};
	page.times.view = function () { return view; };
	page.times.select = function (from, to) {
		range = [Math.max(0, Math.min(from, to)), Math.min(whole, Math.max(from, to))];
		if (range[0] >= range[1])
			range = null;
		redraw();
	};
	// Return what each plotted counter counted in a time range, estimated from its intervals.
	page.times.counted = function (from, to) {
		return plots.map(function (plot) {
			var sum = 0, i, b;

			for (i = Math.max(0, interval(from)); i <= interval(to); i++) {
				b = begin(i);
				sum += (plot.count[i] || 0) * Math.max(0, Math.min(to,
					b + DATA.interval) - Math.max(from, b)) / DATA.interval;
			}
			return { counter: plot.counter, thread: plot.thread, time: plot.time,
				 count: sum };
		});
	};

	// Return the call at a position in the timeline: { chunk, data, i }.
	function callAt(event) {
		var t = timeAt(timeline, event), slack = span() / timeline.w, hit = null;
		var y = event.offsetY + area.scrollTop;
		var lane = lanes.find(function (lane) {
			return y >= lane.y && y < lane.y + lane.levels * page.ROW;
		});
		var depth = lane && Math.floor((y - lane.y) / page.ROW);

		if (!lane)
			return null;
		CALLS.chunks(t - slack, t + slack, slack, function (chunk) {
			var data = CALLS.data(chunk, redraw);

			if (data)
				CALLS.row(chunk, data, lane.thread, depth, t - slack, t + slack,
					  function (i) {
					hit = { chunk: chunk, data: data, i: i };
					return 0;
				});
		}, function (chunk) {
			var i;

			for (i = 0; i < chunk.lanes.length; i += 4)
				if (!hit && chunk.lanes[i] === lane.thread &&
				    chunk.lanes[i + 1] <= depth && chunk.lanes[i + 2] >= depth)
					hit = { chunk: chunk };
		});
		return hit;
	}

	// Describe the period at a position in a thread's strip.
	function spanAt(event) {
		var t = timeAt(timeline, event), y = event.offsetY + area.scrollTop;
		var slack = span() / timeline.w, about = DATA.doubtful ? "~" : "";
		var lane = lanes.find(function (lane) {
			return y >= lane.y - STRIP && y < lane.y;
		});
		var found = lane && lane.spans.find(function (part) {
			return t >= part[2] - slack && t <= part[2] + part[3];
		});

		return found ? DATA.states[found[1]] + "\n" + about + page.time(found[3]) +
			" from " + about + page.time(found[2]) : null;
	}

	// Types of records among calls from the instruction trace; 0: not such a record.
	var RECORDS = ["", "enter ", "exit ", "manual "];

	function recordOf(hit) {
		return hit.data ? hit.data.flags[hit.i] >> 4 & 7 : 0;
	}

	function describe(hit) {
		var about = hit.data && hit.data.flags[hit.i] & 1 ? "~" : "";
		var waited = hit.data && hit.data.waited[hit.i];

		if (!hit.data)
			return hit.chunk.calls + " calls too short to draw: zoom in";
		if (hit.data.flags[hit.i] & 2)
			return (RECORDS[recordOf(hit)] || "") +
			       DATA.functions[hit.data.name[hit.i]] +
			       (recordOf(hit) ? "\nrecord at " : "\npoint at ") + about +
			       page.time(hit.data.begin[hit.i]);
		return DATA.functions[hit.data.name[hit.i]] + "\n" + about +
		       page.time(hit.data.length[hit.i] - waited) + " from " + about +
		       page.time(hit.data.begin[hit.i]) +
		       (waited ? ", and waited " + page.time(waited) + " for room" : "");
	}

	var asked = null;
	// The counts of a call are unpacked when the pointer is over it.
	function tell(event) {
		var hit = callAt(event), text = hit ? describe(hit) : spanAt(event);

		if (asked && hit && asked.chunk === hit.chunk && asked.i === hit.i)
			return asked.text;
		asked = hit && { chunk: hit.chunk, i: hit.i, text: text };
		if (!hit || !hit.data || (hit.data.flags[hit.i] & 2 && !recordOf(hit)))
			return text;
		var mine = asked, record = recordOf(hit);
		var about = hit.data.flags[hit.i] & 128 ? "~" : "";

		CALLS.counts(hit.chunk, hit.i).then(function (counts) {
			counts.forEach(function (count, c) {
				// A count plus 1, or 0 if the count is unknown. A record's count is
				// that since the previous record.
				if (!count--)
					return;
				if (record)
					mine.text += "\n" + DATA.between[c] + ": +" + count;
				else if (DATA.counters[c] !== "timestamp")
					mine.text += "\n" + DATA.counters[c] + ": " +
						     (c < DATA.times ? page.time(count) :
								       about + count);
			});
			if (asked === mine)
				page.tip(event, mine.text);
		});
		return text;
	}

	page.heading("Time line", (DATA.left_out ? "the page is full: " + DATA.left_out +
		" calls are left out; " : "") +
		(STRIP ? "the strip above a thread's calls: on the CPU (green), blocked " +
		 "(blue), woken (orange), preempted (red), unknown (grey); " : "") +
		(DATA.more_spans ? DATA.more_spans + " short parts of it are left out; " : "") +
		"wheel or + -: zoom, drag or arrows: move, double click: show a call, " +
		"drag in the ruler or with shift: select");
	frame = page.element("div", document.body);
	frame.id = "times";
	var cursor = page.element("div", frame);
	cursor.id = "cursor";

	// ---- pointer and keyboard ----------------------------------------

	// Position of each pointer; two pointers form a pinch gesture.
	var down = new Map(), selecting = null;

	function pinch(c, event) {
		var places = Array.from(down.values()), left = c.getBoundingClientRect().left;
		var other = places.find(function (p) { return p.id !== event.pointerId; });
		var before = down.get(event.pointerId).x - left, now = event.clientX - left;
		var fixed = other.x - left, t = view[0] + fixed / c.w * span();

		if (Math.abs(now - fixed) > 4)
			zoom(t, Math.max(0.2, Math.min(5, Math.abs(before - fixed) /
							  Math.abs(now - fixed))));
	}

	function moved(c, event) {
		var from = down.get(event.pointerId), move = (from.x - event.clientX) / c.w * span();

		if (selecting !== null) {
			page.times.select(selecting, timeAt(c, event));
		} else if (down.size > 1) {
			pinch(c, event);
		} else {
			if (c === timeline && event.pointerType === "mouse")
				area.scrollTop += from.y - event.clientY;
			show(view[0] + move, view[1] + move);
		}
		from.x = event.clientX;
		from.y = event.clientY;
	}

	function navigate(c, text) {
		c.addEventListener("wheel", function (event) {
			if (event.shiftKey)
				return;
			event.preventDefault();
			zoom(timeAt(c, event), event.deltaY > 0 ? 1.3 : 1 / 1.3);
		}, { passive: false });
		c.addEventListener("pointerdown", function (event) {
			if (event.button)
				return;
			c.setPointerCapture(event.pointerId);
			down.set(event.pointerId, { id: event.pointerId, x: event.clientX,
						    y: event.clientY });
			if (c === ruler || event.shiftKey)
				selecting = timeAt(c, event);
		});
		c.addEventListener("pointermove", function (event) {
			cursor.style.display = "block";
			cursor.style.left = c.offsetLeft + event.offsetX + "px";
			if (down.has(event.pointerId))
				moved(c, event);
			else
				page.tip(event, text(event));
		});
		["pointerup", "pointercancel"].forEach(function (kind) {
			c.addEventListener(kind, function (event) {
				down.delete(event.pointerId);
				if (selecting !== null && kind === "pointerup") {
					page.times.select(selecting, timeAt(c, event));
					page.selected(range);
				}
				selecting = null;
			});
		});
		c.addEventListener("pointerleave", function (event) {
			cursor.style.display = "none";
			page.tip(event);
		});
		return c;
	}

	function selectView() {
		page.times.select(view[0], view[1]);
		page.selected(range);
	}

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
		else if (event.key === "s")
			selectView();
		else if (event.key === "Escape")
			page.selected(null);
		else
			return;
		event.preventDefault();
	});

	ruler = navigate(page.canvas(frame, RULER, "ruler"), function (event) {
		return page.time(timeAt(ruler, event));
	});
	if (lanes.length) {
		area = page.element("div", frame);
		area.id = "lanes";
		timeline = navigate(page.canvas(area, function () {
			return Math.min(tall, Math.max(200, Math.round(innerHeight * TALL)));
		}, "calls of " + lanes.length + (lanes.length === 1 ? " thread" : " threads") +
		   " over time; the table of functions below has their sums"), tell);
		// The canvas remains in place while the threads' lanes scroll under it.
		var spacer = page.element("div", area);
		area.addEventListener("scroll", redraw);
		timeline.fit = function () {
			timeline.resize();
			spacer.style.height = tall - timeline.h + "px";
		};
		timeline.fit();
		timeline.addEventListener("dblclick", function (event) {
			var hit = callAt(event), length;

			if (!hit || !hit.data)
				return;
			length = hit.data.length[hit.i];
			show(hit.data.begin[hit.i] - length * 0.05,
			     hit.data.begin[hit.i] + length * 1.05);
		});
	}
	DATA.plots.forEach(function (plot) {
		if (!plot.count.length)
			return;
		plot.canvas = navigate(page.canvas(frame, PLOT, plot.counter + " of " +
			DATA.threads[plot.thread] + " over time"), function (event) {
			var i = interval(timeAt(plot.canvas, event));

			return plot.counter + ": " + rate(plot, plot.count[i] || 0) + " at " +
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
		page.element("p", frame, "Stayed 0: " + idle.join(", "));
	if (DATA.threads.length > DATA.plotted)
		page.element("p", frame, "Counters of " + (DATA.threads.length -
			     DATA.plotted) + " more threads are not shown.");
	if (before || after)
		page.element("p", frame, "Shaded: the part of the run that the trace does not cover" +
			     (lacks ? ", " + page.time(lacks) + "." : "."));
	if (DATA.losses.length)
		page.element("p", frame, "Red: records may be missing, " +
			     (DATA.losses.length + DATA.more_losses) + " times" +
			     (DATA.more_losses ? ", of which " + DATA.losses.length +
			      " are drawn." : "."));

	page.views.push({
		draw: draw,
		home: home,
		resize: function () {
			ruler.resize();
			if (timeline)
				timeline.fit();
			plots.forEach(function (p) { p.canvas.resize(); });
		},
	});
}(PAGE));
