// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads the calls that calls.c has packed: unpacks the chunks that a view needs, and keeps the
// latest ones.
var CALLS = (function () {
	"use strict";
	var calls = {}, KEPT = 800, AT_ONCE = 32, room = KEPT, POINTS = 33, FEW = 4, DEPTHS = 1 << 20;
	// The browser reads these elements, which follow the scripts, while the page is in use.
	var packed = document.getElementsByClassName("calls");
	var blocks = document.getElementsByClassName("sums");
	// Chunks are sorted by class, then by the time of the first call.
	var classes = [], all = [], kept = new Map();

	JSON.parse(document.getElementById("chunks").textContent).forEach(function (entry, i) {
		var chunk = {
			kind: entry[0], first: entry[1], last: entry[2], calls: entry[3],
			counters: entry[6], lanes: entry[7], number: i,
			size: base64(entry[4]), countSize: base64(entry[5]),
			sums: entry[8] || 0, block: entry[9], sumsAt: entry[10],
		};

		all.push(chunk);
		classes[chunk.kind] = classes[chunk.kind] || [];
		classes[chunk.kind].push(chunk);
	});

	function base64(bytes) {
		return Math.ceil(bytes / 3) * 4;
	}

	// Prepare chunks, or areas that several chunks cover, for overlapping().
	function byTime(list) {
		list.reach = [];
		list.sort(function (a, b) { return a.first - b.first; });
		// Elements of @reach are running maximums, because a chunk that begins earlier can
		// end later.
		list.forEach(function (chunk, i) {
			list.reach.push(Math.max(chunk.last, i ? list.reach[i - 1] : 0));
		});
		return list;
	}

	classes.forEach(function (list) {
		byTime(list);
		list.areas = [];
	});
	calls.total = all.reduce(function (sum, chunk) { return sum + chunk.calls; }, 0);
	calls.end = all.reduce(function (end, chunk) { return Math.max(end, chunk.last); }, 0);

	// Return a promise that resolves to the text of an element.
	function arrived(list, i) {
		return new Promise(function (resolve) {
			// The last element may be incomplete.
			function look() {
				if (list.length > i + 1 || document.readyState !== "loading")
					resolve(list[i].textContent);
				else
					setTimeout(look, 20);
			}
			look();
		});
	}

	// Return a promise that resolves to the uncompressed bytes.
	function inflate(text) {
		var bytes = new Uint8Array((text = atob(text)).length), i;

		for (i = 0; i < text.length; i++)
			bytes[i] = text.charCodeAt(i);
		return new Response(new Blob([bytes]).stream().pipeThrough(
			new DecompressionStream("deflate"))).arrayBuffer();
	}

	function part(chunk, at, size) {
		return arrived(packed, chunk.number).then(function (text) {
			return inflate(text.substr(at, size));
		});
	}

	// Return a function that reads the next LEB128 number. Numbers wider than 32 bits lose
	// bits above 53.
	function reader(buffer, at) {
		var bytes = new Uint8Array(buffer), i = at || 0;

		return function () {
			var number = 0, unit = 1, byte;

			do {
				byte = bytes[i++];
				number += (byte & 127) * unit;
				unit *= 128;
			} while (byte & 128);
			return number;
		};
	}

	function fill(array, next) {
		var i;

		for (i = 0; i < array.length; i++)
			array[i] = next();
		return array;
	}

	function unpack(chunk, buffer) {
		var next = reader(buffer), n = chunk.calls, i;
		var data = { begin: new Float64Array(n) };

		fill(data.begin, next);
		data.begin[0] += chunk.first;
		for (i = 1; i < n; i++)
			data.begin[i] += data.begin[i - 1];
		data.length = fill(new Float64Array(n), next);
		data.name = fill(new Uint32Array(n), next);
		data.caller = fill(new Uint32Array(n), next);
		data.thread = fill(new Uint32Array(n), next);
		data.depth = fill(new Uint32Array(n), next);
		data.flags = fill(new Uint8Array(n), next);
		data.waited = fill(new Float64Array(n), next);
		return data;
	}

	// Return a chunk's data if it is unpacked; otherwise, return null and call @then once it
	// is.
	calls.data = function (chunk, then) {
		if (chunk.data) {
			// The most recently used chunk is the last one.
			kept.delete(chunk);
			kept.set(chunk, true);
			return chunk.data;
		}
		calls.load(chunk).then(then);
		return null;
	};

	calls.load = function (chunk) {
		if (chunk.data)
			return Promise.resolve(chunk.data);
		chunk.coming = chunk.coming || part(chunk, 0, chunk.size).then(
			function (buffer) {
				var data = unpack(chunk, buffer);

				chunk.data = data;
				chunk.coming = null;
				kept.set(chunk, true);
				for (var oldest of kept.keys()) {
					if (kept.size <= room)
						break;
					oldest.data = null;
					kept.delete(oldest);
				}
				return data;
			});
		return chunk.coming;
	};

	// Keep the @chunks chunks that a view draws in memory, as well as those that a scan reads.
	calls.needs = function (chunks) {
		room = Math.max(KEPT, chunks + AT_ONCE);
	};

	// Return a promise that resolves to the counts of call @i of a chunk, by counter.
	calls.counts = function (chunk, i) {
		if (!chunk.countSize)
			return Promise.resolve([]);
		return part(chunk, chunk.size, chunk.countSize).then(function (buffer) {
			var next = reader(buffer), counts = [], c, j, n;

			for (c = 0; c < chunk.counters; c++) {
				for (j = 0; j < chunk.calls; j++) {
					n = next();
					if (j === i)
						counts.push(n);
				}
			}
			return counts;
		});
	};

	// The maximum length of the calls in a class, in ticks.
	function longest(kind) {
		return kind === POINTS ? 0 : Math.pow(4, kind) - 1;
	}

	// Return the first index for which @reached is true, as it must be for all later ones.
	function search(length, reached) {
		var low = 0, high = length, middle;

		while (low < high) {
			middle = low + high >> 1;
			if (reached(middle))
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}

	calls.search = search;

	// Call @each for the chunks of a time range, until it returns true.
	function overlapping(list, from, to, each) {
		var i = search(list.length, function (i) { return list.reach[i] >= from; });

		for (; i < list.length && list[i].first <= to; i++)
			if (list[i].last >= from && each(list[i]))
				return;
	}

	// Merge the areas of chunks shorter than @ticks that begin in the same period of @ticks.
	function merge(list, ticks) {
		var merged = [], short = null, where, period;

		list.forEach(function (chunk) {
			var i, at;

			if (chunk.last - chunk.first > ticks) {
				merged.push(chunk);
				return;
			}
			if (!short || Math.floor(chunk.first / ticks) !== period) {
				period = Math.floor(chunk.first / ticks);
				short = { first: chunk.first, last: 0, calls: 0, lanes: [] };
				where = new Map();
				merged.push(short);
			}
			short.last = Math.max(short.last, chunk.last);
			short.calls += chunk.calls;
			for (i = 0; i < chunk.lanes.length; i += 4) {
				at = where.get(chunk.lanes[i]);
				if (at === undefined) {
					where.set(chunk.lanes[i], short.lanes.length);
					short.lanes.push.apply(short.lanes, chunk.lanes.slice(i, i + 4));
					continue;
				}
				short.lanes[at + 1] = Math.min(short.lanes[at + 1], chunk.lanes[i + 1]);
				short.lanes[at + 2] = Math.max(short.lanes[at + 2], chunk.lanes[i + 2]);
			}
		});
		return byTime(merged);
	}

	// Return a class's areas for a view in which a pixel has @least ticks. Each level merges the
	// areas of the previous one.
	function areas(list, least) {
		var level = Math.max(0, Math.floor(Math.log2(least))), i;

		for (i = list.areas.length; i <= level; i++)
			list.areas[i] = i ? merge(list.areas[i - 1], Math.pow(2, i)) : list;
		return list.areas[level];
	}

	// Visit the chunks of a time range, those with the longest calls first and points last.
	// Call @draw for chunks whose calls are drawn individually, because the chunks are few or
	// may have calls of @least ticks. Call @area for the areas that the other chunks cover.
	calls.chunks = function (from, to, least, draw, area) {
		var kind;

		function visit(kind) {
			var here = [], all = longest(kind) >= least;

			if (!classes[kind])
				return;
			overlapping(classes[kind], from, to, function (chunk) {
				return here.push(chunk) > FEW && !all;
			});
			if (all || here.length <= FEW)
				here.forEach(draw);
			else
				overlapping(areas(classes[kind], least), from, to, area);
		}
		for (kind = POINTS - 1; kind >= 0; kind--)
			visit(kind);
		visit(POINTS);
	};

	// Return a chunk's calls by row, in order of time. Each thread and depth has a row.
	function rowsOf(data) {
		var i, key, row;

		data.rows = new Map();
		for (i = 0; i < data.begin.length; i++) {
			key = data.thread[i] * DEPTHS + data.depth[i];
			row = data.rows.get(key);
			if (row)
				row.push(i);
			else
				data.rows.set(key, [i]);
		}
		return data.rows;
	}

	// Call @each(i) for the calls of a row that overlap a time range. @each returns a time;
	// calls that end before this time are skipped.
	calls.row = function (chunk, data, thread, depth, from, to, each) {
		var row = (data.rows || rowsOf(data)).get(thread * DEPTHS + depth);
		var begin = data.begin, i, done;

		// Return the first call that begins at a time or later.
		function first(time) {
			return search(row.length, function (i) { return begin[row[i]] >= time; });
		}

		if (!row)
			return;
		i = first(from - longest(chunk.kind));
		while (i < row.length && begin[row[i]] <= to) {
			done = begin[row[i]] + data.length[row[i]] >= from ? each(row[i]) : from;
			i++;
			if (i < row.length && begin[row[i]] < done)
				// Go back by one: the call that begins before this time may end
				// after it.
				i = Math.max(i, first(done) - 1);
		}
	};

	// Call @each(data, i) for the calls of a chunk that overlap a time range.
	calls.within = function (chunk, data, from, to, each) {
		var start = from - longest(chunk.kind), begin = data.begin;
		var i = search(begin.length, function (i) { return begin[i] >= start; });

		for (; i < begin.length && begin[i] <= to; i++)
			if (begin[i] + data.length[i] >= from)
				each(data, i);
	};

	// Return a promise that resolves to a chunk's sums. For each function: its number, calls,
	// points, time, time of its outermost calls, time of calls from it, and marks. @open
	// contains the blocks that the scan has unpacked, each of which several chunks may need.
	function sumsOf(chunk, open) {
		open[chunk.block] = open[chunk.block] || arrived(blocks, chunk.block).then(inflate);
		return open[chunk.block].then(function (buffer) {
			return fill(new Float64Array(7 * chunk.sums), reader(buffer, chunk.sumsAt));
		});
	}

	// Call @each(data, i) for all calls of a time range, chunk by chunk, without blocking the
	// page. For a chunk with sums that is completely within the range, call @sum(sums, i) for
	// each function instead. @progress(fraction_done) returns true to stop. Return a promise
	// that resolves to true if all calls were visited, or to false if @progress stopped the
	// scan.
	calls.scan = function (from, to, each, sum, progress) {
		var list = [], open = [], done = 0;

		classes.forEach(function (chunks) {
			overlapping(chunks, from, to, function (chunk) {
				list.push(chunk);
				return false;
			});
		});

		function visit(chunk) {
			if (chunk.sums && chunk.first >= from && chunk.last <= to)
				return sumsOf(chunk, open).then(function (sums) {
					var i;

					for (i = 0; i < sums.length; i += 7)
						sum(sums, i);
				});
			return calls.load(chunk).then(function (data) {
				calls.within(chunk, data, from, to, each);
			});
		}

		function step() {
			if (done === list.length)
				return Promise.resolve(true);
			progress(done / list.length);
			return Promise.all(list.slice(done, done + AT_ONCE).map(visit)).then(function () {
				done = Math.min(done + AT_ONCE, list.length);
				return progress(done / list.length) ? false : step();
			});
		}
		return step();
	};

	// Find the first call after @after (if @backwards, the last call before it) that satisfies
	// @matches(data, i). Return a promise that resolves to { begin, end, chunk, i } or null.
	calls.find = function (after, backwards, matches) {
		var best = null;

		function better(begin) {
			return backwards ? begin < after && (!best || begin > best.begin) :
					   begin > after && (!best || begin < best.begin);
		}

		function look(chunk, data) {
			var i;

			for (i = 0; i < data.begin.length; i++)
				if (better(data.begin[i]) && matches(data, i))
					best = { begin: data.begin[i], chunk: chunk, i: i,
						 end: data.begin[i] + data.length[i] };
		}

		var list = all.filter(function (chunk) {
			return backwards ? chunk.first < after : chunk.last > after;
		}).sort(function (a, b) {
			return backwards ? b.last - a.last : a.first - b.first;
		});

		function step(n) {
			var chunk = list[n];

			// No later chunk in this order can contain a closer call.
			if (!chunk || (best && (backwards ? chunk.last < best.begin :
							    chunk.first > best.begin)))
				return Promise.resolve(best);
			return calls.load(chunk).then(function (data) {
				look(chunk, data);
				return step(n + 1);
			});
		}
		return step(0);
	};
	return calls;
}());
