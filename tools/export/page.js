// SPDX-License-Identifier: Apache-2.0 OR MIT
// Shared by all parts of the page that html.c writes: the bar with the search,
// units, colours, boxes. Each part is a view: { draw, resize, home }.
var PAGE = (function () {
	"use strict";
	var page = { ROW: 17, views: [], pattern: null };
	var tip;

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

	var bar = page.element("div", document.body);
	bar.id = "bar";
	var search = page.element("input", bar);
	search.id = "search";
	search.placeholder = "search functions (regular expression)";
	page.search = search;
	var home = page.element("button", bar, "whole trace");
	home.id = "home";
	page.status = page.element("span", bar);
	page.status.id = "status";
	page.found = page.element("span", bar);
	page.found.id = "found";
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

	// The rate of a count over this many ticks.
	page.rate = function (count, ticks) {
		return DATA.hz ? page.number(count / ticks * DATA.hz) + "/s" :
				 page.number(count / ticks) + " a tick";
	};

	page.weight = function (n) {
		return DATA.weight === "time" ? page.time(n) : page.number(n);
	};

	// ---- drawing -----------------------------------------------------

	function colour(name) {
		var hash = 2166136261, i;

		for (i = 0; i < name.length; i++)
			hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
		return "hsl(" + (12 + hash % 48) + "," +
		       (62 + Math.floor(hash / 48) % 30) + "%," +
		       (58 + Math.floor(hash / 1440) % 16) + "%)";
	}

	var colours = DATA.functions.map(colour);

	page.matches = DATA.functions.map(function () { return false; });

	page.fill = function (index) {
		return page.pattern && page.matches[index] ? "#d6f" :
							     colours[index];
	};

	page.canvas = function (parent, height) {
		var c = page.element("canvas", parent), ratio = devicePixelRatio || 1;

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
	};

	page.box = function (c, x, y, width, fill, text) {
		var letters;

		c.g.fillStyle = fill;
		c.g.fillRect(x, y, Math.max(width - 0.5, 0.5), page.ROW - 1);
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
	home.addEventListener("click", function () {
		page.views.forEach(function (view) { view.home(); });
		page.draw();
	});
	addEventListener("resize", function () {
		page.views.forEach(function (view) { view.resize(); });
		page.draw();
	});
	page.start = function () {
		page.draw();
		document.body.dataset.ready = "yes";
	};
	return page;
}());
