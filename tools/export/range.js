// SPDX-License-Identifier: Apache-2.0 OR MIT
// Finds the next or previous call that the search matches, and shows the functions of a selected
// time range.
(function (page) {
	"use strict";
	var current = null, asked = 0, table = null, note;

	if (!page.times.show)
		return;

	// ---- next and previous -------------------------------------------

	function go(backwards) {
		var view = page.times.view(), mine = ++asked;
		var from = current === null ? (backwards ? view[1] : view[0] - 0.5) : current;

		if (!page.pattern) {
			page.found.textContent = "search for a function first";
			return;
		}
		CALLS.find(from, backwards, function (data, i) {
			return page.matches[data.name[i]];
		}).then(function (hit) {
			var length, data;

			if (mine !== asked)
				return;
			if (!hit) {
				page.found.textContent = backwards ? "no earlier call" :
								     "no later call";
				return;
			}
			data = hit.chunk.data;
			current = hit.begin;
			length = Math.max(hit.end - hit.begin, 1);
			page.times.show(hit.begin - length * 2, hit.end + length * 2,
					data.thread[hit.i], data.depth[hit.i]);
			page.found.textContent = DATA.functions[data.name[hit.i]] + " at " +
						 page.time(hit.begin);
		});
	}

	page.button(page.bar, "previous", "show the previous match of the search (p)",
		    function () { go(true); }).id = "previous";
	page.button(page.bar, "next", "show the next match of the search (n)",
		    function () { go(false); }).id = "next";
	page.search.addEventListener("input", function () { current = null; });
	page.search.addEventListener("keydown", function (event) {
		if (event.key === "Enter")
			go(event.shiftKey);
	});
	addEventListener("keydown", function (event) {
		if (event.target === page.search || event.ctrlKey || event.altKey ||
		    event.metaKey || (event.key !== "n" && event.key !== "p"))
			return;
		go(event.key === "p");
		event.preventDefault();
	});

	// ---- selection ---------------------------------------------------

	function close() {
		if (table) {
			table.remove();
			note.remove();
		}
		table = null;
	}

	// Calls without a time are not in the page, but the calls that they made are.
	function row(rows, index) {
		var mark;

		if (!rows[index]) {
			mark = DATA.untimed.indexOf(index) < 0 ? "" : "~";
			rows[index] = { name: DATA.functions[index], index: index, calls: 0,
					points: 0, total: 0, self: 0, countMarked: mark,
					marked: mark, selfMarked: mark };
		}
		return rows[index];
	}

	function counted(range) {
		var sums = {}, times = {};

		page.times.counted(range[0], range[1]).forEach(function (part) {
			sums[part.counter] = (sums[part.counter] || 0) + part.count;
			times[part.counter] = part.time;
		});
		return Object.keys(sums).map(function (name) {
			return ", " + name + " ~" + (times[name] ? page.time(sums[name]) :
								    page.number(sums[name]));
		}).join("");
	}

	// Select a time range and show a table of its functions. Of a call that is only partly in
	// the range, that part counts.
	page.selected = function (range) {
		var rows = {}, mine = ++asked;

		close();
		page.times.select(range ? range[0] : 0, range ? range[1] : 0);
		if (!range)
			return;
		note = page.heading("Selection", "0%");
		note.id = "selection";
		table = page.table("range", "functions in the selected time range", [
			["calls", "calls", function (r) { return r.countMarked + r.calls; }],
			["points", "points", function (r) { return String(r.points); }],
			["total", "total", function (r) { return r.marked + page.time(r.total); }],
			["self", "self", function (r) { return r.selfMarked + page.time(r.self); }],
			["name", "function"]]);
		CALLS.scan(range[0], range[1], function (data, i) {
			var r = row(rows, data.name[i]), caller, end = data.begin[i] + data.length[i];
			var inside = Math.min(end, range[1]) - Math.max(data.begin[i], range[0]);
			// It is unknown when in the call the thread waited, so assume that the wait
			// was spread evenly.
			var cut = data.waited[i] && inside < data.length[i];
			var part = inside - (data.waited[i] && data.waited[i] * inside /
								data.length[i]);

			if (data.flags[i] & 2) {
				r.points++;
				return;
			}
			r.calls++;
			r.self += part;
			r.total += data.flags[i] & 4 ? part : 0;
			if (data.flags[i] & 1 || cut)
				r.marked = "~";
			if (data.flags[i] & 9 || cut)
				r.selfMarked = "~";
			if (data.caller[i]) {
				caller = row(rows, data.caller[i] - 1);
				caller.self -= part;
				if (data.flags[i] & 1 || cut)
					caller.selfMarked = "~";
			}
		}, function (sums, i) {
			var r = row(rows, sums[i]);

			r.calls += sums[i + 1];
			r.points += sums[i + 2];
			r.self += sums[i + 3] - sums[i + 5];
			r.total += sums[i + 4];
			if (sums[i + 6] & 1)
				r.marked = "~";
			if (sums[i + 6] & 2)
				r.selfMarked = "~";
		}, function (done) {
			if (mine === asked)
				note.lastChild.textContent = " " + Math.round(100 * done) + "%";
			return mine !== asked;
		}).then(function (complete) {
			if (!complete || mine !== asked)
				return;
			note.textContent = "Selection";
			page.element("small", note, " " + page.time(range[0]) + " to " +
				     page.time(range[1]) + ", " +
				     page.time(range[1] - range[0]) + counted(range) +
				     "; calls partly in it count only for that part; Escape ends it");
			table.show(Object.keys(rows).map(function (i) {
				// The function has calls missing from the page, because their time
				// is unknown.
				if (rows[i].self < -0.5)
					rows[i].selfMarked = "~";
				rows[i].self = Math.max(0, rows[i].self);
				return rows[i];
			}), "self");
			note.dataset.ready = "yes";
		});
	};

	// Show and select the call that triggered the snapshot.
	page.trigger = function (range) {
		var around = (range[1] - range[0]) / 4;

		page.times.show(range[0] - around, range[1] + around);
		page.selected(range);
	};
}(PAGE));
