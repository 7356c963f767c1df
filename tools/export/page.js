// SPDX-License-Identifier: Apache-2.0 OR MIT
// Shared by all parts of the page that html.c writes: the bar with the search,
// units, colours, boxes, tables. Each part is a view: { draw, resize, home }.
var PAGE = (function () {
	"use strict";
	var page = { ROW: 17, views: [], pattern: null };
	var tip;

	// Colours, by the name of their variable in the style sheet.
	page.theme = {};
	function readTheme() {
		var style = getComputedStyle(document.documentElement);

		["text", "muted", "plot", "found", "short", "range", "loss", "thread", "point",
		 "uncovered", "runs", "preempted", "sleeps", "uninterruptible", "stopped", "waits",
		 "woken", "light"].forEach(function (name) {
			page.theme[name] = style.getPropertyValue("--" + name).trim();
		});
	}
	readTheme();

	page.element = function (kind, parent, text) {
		var e = document.createElement(kind);

		if (text)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	};

	// "title (note)"
	page.heading = function (title, note) {
		var h = page.element("h2", document.body, title);

		if (note)
			page.element("small", h, " " + note);
		return h;
	};

	page.button = function (parent, text, title, act) {
		var button = page.element("button", parent, text);

		button.type = "button";
		button.title = title;
		button.addEventListener("click", act);
		return button;
	};

	var bar = page.element("div", document.body);
	bar.id = "bar";
	page.bar = bar;
	var search = page.element("input", bar);
	search.id = "search";
	search.placeholder = "search functions (regular expression)";
	search.setAttribute("aria-label", search.placeholder);
	page.search = search;
	page.button(bar, "whole trace", "show the whole timeline and flame graph",
		    function () {
			page.views.forEach(function (view) { view.home(); });
			page.draw();
		}).id = "home";
	// A screen reader announces changes of these elements.
	page.status = page.element("span", bar);
	page.status.id = "status";
	page.status.setAttribute("role", "status");
	page.found = page.element("span", bar);
	page.found.id = "found";
	page.found.setAttribute("role", "status");
	tip = page.element("div", document.body);
	tip.id = "tip";

	// ---- units -------------------------------------------------------

	page.time = function (ticks) {
		var units = ["ns", "us", "ms", "s"], i = 0, t;

		if (!DATA.hz)
			return Math.round(ticks) + " ticks";
		t = ticks / DATA.hz * 1e9;
		while (Math.abs(t) >= 999.9995 && i < 3) {
			t /= 1000;
			i++;
		}
		return (t ? Number(t.toPrecision(6)) : 0) + " " + units[i];
	};

	page.number = function (n) {
		var letters = ["", " k", " M", " G", " T"], i = 0;

		while (n >= 9999.5 && i < 4) {
			n /= 1000;
			i++;
		}
		return Number(n.toPrecision(4)) + letters[i];
	};

	// Return the rate of @count over @ticks as text.
	page.rate = function (count, ticks) {
		return DATA.hz ? page.number(count / ticks * DATA.hz) + "/s" :
				 page.number(count / ticks) + " a tick";
	};

	// Return a column's sum as text: the first columns are times on and off the CPU.
	page.count = function (count, column) {
		return column < DATA.times ? page.time(count) : page.number(count);
	};

	page.weight = function (n) {
		return DATA.weightIsTime ? page.time(n) : page.number(n);
	};

	// ---- drawing -----------------------------------------------------

	function colour(name) {
		var hash = 2166136261, i;

		for (i = 0; i < name.length; i++)
			hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
		return "hsl(" + (12 + hash % 48) + "," +
		       (62 + Math.floor(hash / 48) % 30) + "%," +
		       (parseInt(page.theme.light, 10) + Math.floor(hash / 1440) % 12 - 6) +
		       "%)";
	}

	var colours = DATA.functions.map(colour);

	page.matches = DATA.functions.map(function () { return false; });

	page.fill = function (index) {
		return page.pattern && page.matches[index] ? page.theme.found :
							     colours[index];
	};

	page.canvas = function (parent, height, label) {
		var c = page.element("canvas", parent), ratio = devicePixelRatio || 1;

		c.setAttribute("role", "img");
		c.setAttribute("aria-label", label);
		c.tabIndex = 0;
		c.resize = function () {
			c.w = Math.max(200, parent.clientWidth - 2);
			c.h = typeof height === "function" ? height() : height;
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
	};

	page.box = function (c, x, y, width, fill, text) {
		var letters;

		c.g.fillStyle = fill;
		c.g.fillRect(x, y, Math.max(width - 0.5, 0.5), page.ROW - 1);
		if (width < 20)
			return;
		letters = Math.floor((Math.min(x + width, c.w) - Math.max(x, 0) - 5) / 6.7);
		if (letters < 3)
			return;
		c.g.fillStyle = "#000";
		c.g.fillText(text.length <= letters ? text :
			     text.slice(0, letters - 2) + "..",
			     Math.max(x, 0) + 3, y + page.ROW / 2);
	};

	page.tip = function (event, text) {
		tip.style.display = text ? "block" : "none";
		tip.textContent = text || "";
		tip.style.left = Math.max(0, Math.min(event.clientX + 12,
			innerWidth - tip.offsetWidth - 4)) + "px";
		tip.style.top = event.clientY + 14 + "px";
	};

	// ---- tables ------------------------------------------------------

	// Create a table of objects; a click on a column's heading sorts it. @columns: [key,
	// heading, text(row)]; the last column is the name, which has no text(row): a click on it
	// searches for the name. Rows are added as the page is scrolled.
	page.table = function (id, label, columns) {
		var ROWS = 200, table, head, body, order = null, rows = [], shown = 0;
		var frame = page.element("div", document.body), more;

		frame.className = "table";
		table = page.element("table", frame);
		table.id = id;
		table.setAttribute("aria-label", label);
		head = page.element("tr", page.element("thead", table));
		body = page.element("tbody", table);
		more = page.button(document.body, "more rows", "show more rows", grow);

		function grow() {
			rows.slice(shown, shown + ROWS).forEach(function (row) {
				var line = page.element("tr", body);

				columns.forEach(function (column) {
					if (column[2]) {
						page.element("td", line, column[2](row));
						return;
					}
					page.button(page.element("td", line), row.name,
						    "find this function", function () {
						page.find("^" + row.name.replace(
							/[.*+?^${}()|[\]\\]/g, "\\$&") + "$");
					});
				});
			});
			shown = Math.min(rows.length, shown + ROWS);
			more.style.display = shown < rows.length ? "" : "none";
			more.textContent = (rows.length - shown) + " more";
		}

		function sort() {
			rows.sort(function (a, b) {
				return order === "name" ? (a.name < b.name ? -1 : 1) :
							  b[order] - a[order];
			});
			Array.from(head.children).forEach(function (cell, i) {
				cell.setAttribute("aria-sort", columns[i][0] !== order ? "none" :
					order === "name" ? "ascending" : "descending");
			});
			body.textContent = "";
			shown = 0;
			grow();
		}

		columns.forEach(function (column) {
			page.button(page.element("th", head), column[1],
				    "sort by this column", function () {
				order = column[0];
				sort();
			});
		});
		new IntersectionObserver(function (seen) {
			if (seen[0].isIntersecting && shown < rows.length)
				grow();
		}).observe(more);
		return {
			element: table,
			show: function (list, by) {
				rows = list;
				order = order || by;
				sort();
			},
			remove: function () {
				frame.remove();
				more.remove();
			},
		};
	};

	// ---- all views ---------------------------------------------------

	page.draw = function () {
		page.views.forEach(function (view) { view.draw(); });
	};

	page.find = function (text) {
		search.value = text;
		search.dispatchEvent(new Event("input"));
	};

	search.addEventListener("input", function () {
		try {
			page.pattern = search.value ? new RegExp(search.value) : null;
			search.className = "";
		} catch (error) {
			search.className = "wrong";
			return;
		}
		page.matches = DATA.functions.map(function (f) {
			return page.pattern !== null && page.pattern.test(f);
		});
		page.draw();
	});
	addEventListener("resize", function () {
		page.views.forEach(function (view) { view.resize(); });
		page.draw();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
		readTheme();
		colours = DATA.functions.map(colour);
		page.draw();
	});
	page.start = function () {
		page.draw();
		if (DATA.trigger && page.trigger)
			page.trigger(DATA.trigger);
		// Redraw once the calls of the first view are unpacked.
		page.settled().then(function () {
			page.draw();
			document.body.dataset.ready = "yes";
		});
	};
	page.settled = function () { return Promise.resolve(); };
	return page;
}());
