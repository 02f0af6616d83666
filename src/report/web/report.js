"use strict";
/* Draws every slice of the comparison over time, by uPlot. All tables stand without it. */
(() => {
	const data = JSON.parse(document.getElementById("slices").textContent);
	const shown = data.variants.map(() => true);
	const dark = matchMedia("(prefers-color-scheme: dark)");
	let scenario = -1; /* all */
	let plot = null;

	const make = (name, properties, ...children) => {
		const e = Object.assign(document.createElement(name), properties);
		e.append(...children);
		return e;
	};
	const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const isNull = (v) => v === data.variants.length - 1 && data.variants[v] === "null arm";
	const others = ["--good", "--warn", "--bad", "--text"];
	const colorOf = (v) => color(v === 0 ? "--accent" : isNull(v) ? "--null" : others[(v - 1) % others.length]);

	/* One row a slice: its time, and its change in the column of its variant. */
	const columns = () => {
		const rows = data.time.map((_, i) => i).filter((i) => scenario < 0 || data.scenario[i] === scenario);
		const of = (v) => rows.map((i) => (data.variant[i] === v ? data.change[i] : null));
		return [rows.map((i) => data.time[i]), ...data.variants.map((_, v) => of(v))];
	};
	/* One wild slice must not flatten all others. */
	const range = (u, low, high) => {
		const all = u.data.slice(1).flat().filter((x) => x !== null).sort((a, b) => a - b);
		const at = (q) => all[Math.round(q * (all.length - 1))] || 0;
		const pad = Math.max(1, (at(0.99) - at(0.01)) * 0.15);
		return [Math.max(low ?? 0, at(0.01) - pad), Math.min(high ?? 0, at(0.99) + pad)];
	};
	const tell = (u) => {
		const i = u.cursor.idx;
		if (i === null || i === undefined) {
			said.textContent = "";
			return;
		}
		const v = data.variants.findIndex((_, k) => u.data[k + 1][i] !== null);
		if (v >= 0)
			said.textContent = `${u.data[0][i].toFixed(1)} s: ${data.variants[v]} ` +
				`${u.data[v + 1][i] > 0 ? "+" : ""}${u.data[v + 1][i].toFixed(1)} %`;
	};
	const options = () => {
		const axis = {
			stroke: color("--quiet"),
			grid: {stroke: color("--line"), width: 1},
			ticks: {stroke: color("--line"), width: 1},
		};
		const dots = (v) => ({
			label: data.variants[v],
			show: shown[v],
			stroke: colorOf(v),
			paths: () => null,
			points: {show: true, size: 6, width: 1.5, stroke: colorOf(v), fill: isNull(v) ? color("--card") : colorOf(v)},
		});
		return {
			width: Math.max(320, frame.clientWidth),
			height: 320,
			legend: {show: false},
			scales: {x: {time: false}, y: {range}},
			axes: [{...axis, label: "measured time, s"}, {...axis, label: "change, percent", size: 60}],
			series: [{}, ...data.variants.map((_, v) => dots(v))],
			hooks: {setCursor: [tell]},
		};
	};
	const draw = () => {
		plot?.destroy();
		plot = new uPlot(options(), columns(), frame);
		swatches.forEach((s, v) => {
			s.style.borderColor = colorOf(v);
			s.style.background = isNull(v) ? "transparent" : colorOf(v);
		});
	};

	const select = make("select", {id: "slices-scenario"}, make("option", {value: -1}, "all"),
		...data.scenarios.map((name, i) => make("option", {value: i}, name)));
	const swatches = data.variants.map(() => make("span", {className: "swatch"}));
	const boxes = data.variants.map((name, v) => {
		const box = make("input", {type: "checkbox", checked: true});
		box.addEventListener("change", () => {
			shown[v] = box.checked;
			draw();
		});
		return make("label", {}, box, " ", swatches[v], name);
	});
	const reset = make("button", {type: "button"}, "Whole run");
	const form = make("form", {}, make("label", {}, "Scenario ", select), ...boxes, reset);
	const frame = make("div", {});
	const said = make("output", {});

	frame.setAttribute("role", "img");
	frame.setAttribute("aria-label", "Plot of every slice over time; the table below has the medians of each launch.");
	select.addEventListener("change", () => {
		scenario = Number(select.value);
		draw();
	});
	reset.addEventListener("click", draw);
	form.addEventListener("submit", (e) => e.preventDefault());
	const place = make("div", {className: "slices"}, make("h3", {}, "Every slice"),
		make("p", {}, "Against the median of the base in the same scenario. Drag over the plot to look closer."),
		form, frame, said);
	document.getElementById("plot-drift").closest("figure").after(place);
	draw();
	dark.addEventListener("change", draw);
	addEventListener("resize", () => plot.setSize({width: Math.max(320, frame.clientWidth), height: 320}));
})();
