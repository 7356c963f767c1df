// SPDX-License-Identifier: Apache-2.0 OR MIT
// Zooms and searches in a flame graph: see svg.c.
(function () {
	"use strict";
	var margin = 10, page = 1200 - 2 * margin;
	var boxes = Array.prototype.slice.call(document.querySelectorAll(".b"));
	var reset = document.getElementById("reset");
	var found = document.getElementById("found");
	var detail = document.getElementById("detail");
	var search = document.getElementById("search");

	boxes.forEach(function (g) {
		g.l = parseFloat(g.dataset.l);
		g.w = parseFloat(g.dataset.w);
		g.d = parseInt(g.dataset.d, 10);
		g.r = g.querySelector("rect");
		g.t = g.querySelector("text");
		g.fill = g.r.getAttribute("fill");
		g.addEventListener("click", function () { zoom(g); });
		g.addEventListener("mouseover", function () {
			detail.textContent = g.querySelector("title").textContent;
		});
	});

	// @to and the boxes that enclose it become as wide as the page; boxes beside @to are
	// hidden.
	function zoom(to) {
		boxes.forEach(function (g) {
			var around = g.d <= to.d && g.l <= to.l + 1e-9 &&
				     g.l + g.w >= to.l + to.w - 1e-9;
			var left = around ? 0 : (g.l - to.l) / to.w;
			var width = around ? 1 : g.w / to.w;
			var gone = !around && (g.d < to.d || left < -1e-6 ||
					       left + width > 1 + 1e-6);
			var pixels = width * page, name = g.dataset.n;
			var letters = Math.floor((pixels - 6) / 7.3);

			g.style.display = gone || pixels < 0.3 ? "none" : "";
			g.style.opacity = around && g !== to ? 0.5 : 1;
			g.r.setAttribute("x", margin + left * page);
			g.r.setAttribute("width", pixels);
			g.t.setAttribute("x", margin + left * page + 3);
			g.t.textContent = letters < 3 ? "" :
				name.length <= letters ? name :
				name.slice(0, letters - 2) + "..";
		});
		reset.setAttribute("visibility", to.d ? "visible" : "hidden");
	}

	function look() {
		var text = prompt("Functions that match this regular expression:", "");
		var expression, ends = [], sum = 0;

		if (text === null)
			return;
		try {
			expression = text && new RegExp(text);
		} catch (error) {
			found.textContent = error.message;
			return;
		}
		boxes.forEach(function (g) {
			var match = expression && expression.test(g.dataset.n);

			g.r.setAttribute("fill", match ? "#e0f" : g.fill);
			// Only the outermost of nested matches is counted.
			if (!match || ends.some(function (e) {
				return g.l >= e[0] - 1e-9 &&
				       g.l + g.w <= e[1] + 1e-9;
			}))
				return;
			ends.push([g.l, g.l + g.w]);
			sum += g.w;
		});
		found.textContent = expression ?
			"matched: " + (100 * sum).toFixed(1) + "%" : "";
	}

	reset.addEventListener("click", function () { zoom(boxes[0]); });
	search.addEventListener("click", look);
	window.addEventListener("keydown", function (event) {
		if ((event.ctrlKey || event.metaKey) && event.key === "f") {
			event.preventDefault();
			look();
		}
	});
	if (boxes.length)
		zoom(boxes[0]);
}());
