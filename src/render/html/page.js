"use strict";
(async () => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const $ = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Okabe and Ito's colours, as in the pictures.
  const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#9467bd"];
  const SYMBOLS = ["circle", "square", "triangle-up", "diamond"];
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

  // The library reads a few HTML tags in labels: none of a report's text is to be one.
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const wrapped = (text) => plain(text).replace(/(.{60}[^ ]*) /g, "$1<br>");

  // Paper is white.
  let printing = false;

  function dark() {
    if (printing) return false;
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function look() {
    const [ink, line] = dark() ? ["#e4e4e4", "#3a3e44"] : ["#1e1e1e", "#dddddd"];
    return { ink, line, shade: dark() ? "rgba(255,255,255,0.06)" : "rgba(0,0,0,0.05)" };
  }

  // Nothing of a chart is drawn from reports that are not picked.
  const picked = () => new Set($(".machine").filter((box) => box.checked).map((box) => Number(box.dataset.report)));
  const several = data.reports.length > 1;

  // Numbers that no machine reaches are in the tables: the library has no pixel for them.
  const drawable = (value, log) => Number.isFinite(value) && Math.abs(value) < 1e100 && (!log || value > 1e-100);

  function traces(lines, extra) {
    const log = lines.logValues;
    const shown = (series, i) => drawable(series.y[i], log);
    const distance = (series, i, end) => shown(series, i) && drawable(end, log) ? Math.abs(end - series.y[i]) : 0;
    return lines.series.map((series) => ({
      type: "scatter",
      mode: lines.names ? "markers" : "lines+markers",
      name: plain(series.name || "all points"),
      x: lines.names ? series.x.map((place) => plain(lines.labels[place] ?? place)) : series.x,
      y: series.y.map((value, i) => shown(series, i) ? value : null),
      text: series.words.map(wrapped),
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
      error_y: {
        type: "data", symmetric: false, thickness: 1,
        array: series.high.map((high, i) => distance(series, i, high)),
        arrayminus: series.low.map((low, i) => distance(series, i, low)),
      },
      error_x: {
        type: "data", symmetric: false, thickness: 1, visible: series.x.some((x, i) => series.xLow[i] < x || series.xHigh[i] > x),
        array: series.xHigh.map((high, i) => high - series.x[i]),
        arrayminus: series.xLow.map((low, i) => series.x[i] - low),
      },
      line: { dash: DASHES[(several ? series.report : series.shape) % DASHES.length], width: 2 },
      marker: {
        size: 9, color: COLORS[series.color % COLORS.length],
        symbol: series.grade.map((grade) => {
          const symbol = SYMBOLS[series.shape % SYMBOLS.length];
          return grade === "rejected" ? "x" : grade === "doubtful" ? symbol + "-open" : symbol;
        }),
      },
      meta: series.report,
      ...extra,
    })).map((trace) => ({ ...trace, line: { ...trace.line, color: trace.marker.color } }));
  }

  function axisOfPlaces(lines) {
    const { ink, line } = look();
    const axis = { title: { text: plain(lines.title) }, gridcolor: line, linecolor: ink, automargin: true };
    if (lines.names) {
      const used = new Set(lines.series.flatMap((series) => series.x));
      const names = lines.labels.filter((_, place) => used.has(place)).map(plain);
      return { ...axis, type: "category", categoryorder: "array", categoryarray: names };
    }
    const range = lines.log ? lines.range.map(Math.log10) : lines.range;
    return { ...axis, type: lines.log ? "log" : "linear", range, tickvals: lines.ticks, ticktext: lines.labels.map(plain) };
  }

  function axisOfValues(lines, title) {
    const { ink, line } = look();
    return {
      title: { text: plain(title) }, type: lines.logValues ? "log" : "linear", gridcolor: line, linecolor: ink,
      rangemode: lines.logValues ? "normal" : "tozero", automargin: true, exponentformat: "none",
    };
  }

  // Levels: every second one shaded, all of them named.
  function levels(lines) {
    const middle = (mark) => lines.log ? (Math.log10(mark.from) + Math.log10(mark.to)) / 2 : (mark.from + mark.to) / 2;
    return {
      shapes: lines.marks.map((mark, i) => ({
        type: "rect", xref: "x", yref: "paper", x0: mark.from, x1: mark.to, y0: 0, y1: 1, line: { width: 0 }, layer: "below",
        fillcolor: i % 2 ? "rgba(0,0,0,0)" : look().shade,
      })),
      annotations: lines.marks.map((mark) => ({
        text: plain(mark.name), x: middle(mark), xref: "x", y: 1, yref: "paper", yanchor: "bottom", showarrow: false,
      })).concat(lines.notes.map((note) => ({
        text: plain(note.text), x: lines.log ? Math.log10(note.x) : note.x, xref: "x",
        y: lines.logValues ? Math.log10(note.y) : note.y, yref: "y", showarrow: true, arrowhead: 2, ax: 0, ay: -36,
      }))),
    };
  }

  function common(narrow) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: look().ink, family: "system-ui, sans-serif" },
      margin: { t: 32, r: 16, b: 60, l: 64 }, hovermode: "closest", hoverlabel: { align: "left" },
      legend: narrow ? { orientation: "h", y: -0.5 } : {}, modebar: { bgcolor: "rgba(0,0,0,0)", color: look().ink, activecolor: "#0072b2" },
    };
  }

  function ofLines(chart, narrow) {
    const lines = chart.lines;
    const layout = { ...common(narrow), ...levels(lines), xaxis: axisOfPlaces(lines), yaxis: axisOfValues(lines, chart.values), showlegend: true };
    return [traces(lines, {}), layout];
  }

  function ofHeat(chart, narrow) {
    const heat = chart.heat;
    const values = heat.values.map((row) => row.map((value) => drawable(value, false) ? value : null));
    const bound = (value) => Math.max(-1e100, Math.min(value, 1e100));
    const cells = { z: values, x: heat.columns.map((c) => plain(c)), y: heat.rows.map((r) => plain(r)) };
    const place = `${plain(heat.rowTitle)} %{y}, ${plain(heat.columnTitle)} %{x}`;
    const trace = {
      type: "heatmap", ...cells, zmin: bound(heat.low), zmax: bound(heat.high), colorscale: "Viridis", hoverongaps: false,
      text: heat.words ? heat.words.map((row) => row.map((w) => w === null ? "" : wrapped(w))) : undefined,
      hovertemplate: heat.words ? `${place}<br>%{text}<extra></extra>` : `${place}: %{z}<extra></extra>`,
      colorbar: { title: { text: plain(chart.values) } },
    };
    const axis = (title) => ({ title: { text: plain(title) }, type: "category", automargin: true, nticks: 24 });
    const layout = { ...common(narrow), xaxis: axis(heat.columnTitle), yaxis: { ...axis(heat.rowTitle), autorange: "reversed" } };
    return [[trace], layout];
  }

  // Bandwidth above, latency below, over the same sizes.
  function ofHierarchy(above, below, narrow) {
    const over = traces(above.lines, { legendgroup: "above" });
    const under = traces(below.lines, { yaxis: "y2", legendgroup: "below" }).map((t) => ({ ...t, name: "latency" + (t.name === "all points" ? "" : ": " + t.name) }));
    const range = [0, 1].map((end) => (end ? Math.max : Math.min)(above.lines.range[end], below.lines.range[end]));
    const ticks = above.lines.ticks.length >= below.lines.ticks.length ? above.lines : below.lines;
    const xaxis = axisOfPlaces({ ...ticks, range, log: above.lines.log });
    const marked = above.lines.marks.length ? above.lines : below.lines;
    return [over.concat(under), {
      ...common(narrow), ...levels(marked), xaxis: { ...xaxis, anchor: "y2" }, showlegend: true,
      yaxis: { ...axisOfValues(above.lines, above.values), domain: [0.46, 1] },
      yaxis2: { ...axisOfValues(below.lines, below.values), domain: [0, 0.4] },
    }];
  }

  const CONFIG = { responsive: true, displaylogo: false, scrollZoom: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const drawn = [];

  // Points one by one by the arrow keys, told to screen readers in the words that the mouse is shown.
  function tellByKeys(place, words) {
    const told = document.createElement("p");
    told.className = "small told";
    told.setAttribute("aria-live", "polite");
    place.after(told);
    let at;
    const within = (i, list) => Math.max(0, Math.min(i, list.length - 1));
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    place.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        told.textContent = "";
        Plotly.Fx.unhover(place);
      }
      const step = steps[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || !words.length) return;
      event.preventDefault();
      const row = at ? within(at[0] + step[0], words) : 0;
      at = [row, at ? within(at[1] + step[1], words[row]) : 0];
      told.textContent = words[row][at[1]];
      Plotly.Fx.hover(place, [words.heat ? { curveNumber: 0, pointNumber: at } : { curveNumber: row, pointNumber: at[1] }]);
    });
  }

  const wordsOfLines = (series) => series.map((s) => s.words.map((w) => (s.name ? s.name + ": " : "") + w));

  function wordsOfHeat(heat) {
    const cell = (row, column) => heat.words?.[row][column] ?? heat.values[row][column] ?? "nothing";
    const words = heat.rows.map((name, row) =>
      heat.columns.map((other, column) => `${heat.rowTitle} ${name}, ${heat.columnTitle} ${other}: ${cell(row, column)}`));
    return Object.assign(words, { heat: true });
  }

  function show(place, make, series) {
    const figure = place.closest("figure");
    const draw = () => {
      const narrow = innerWidth < 700 && !printing;
      const [all, layout] = make(narrow);
      const of = picked();
      const off = new Set($("input", figure).filter((box) => !box.checked).map((box) => Number(box.value)));
      all.forEach((trace, i) => {
        if (several && trace.meta !== undefined && !of.has(trace.meta)) trace.visible = false;
        else if (off.has(i)) trace.visible = "legendonly";
      });
      // A sheet of paper has room for so many pixels.
      layout.autosize = !printing;
      if (printing) layout.width = 700;
      const done = Plotly.react(place, all, layout, { ...CONFIG, responsive: !printing, displayModeBar: narrow ? false : "hover" });
      // Its many labels make no sense one after the other.
      place.querySelector(".plot-container")?.setAttribute("aria-hidden", "true");
      return done;
    };
    // The same switches as in the legend, for keyboards and screen readers.
    const switches = figure.querySelector(".series");
    if (switches && series.length > 1) {
      series.forEach((name, i) => {
        const label = document.createElement("label"), box = document.createElement("input");
        box.type = "checkbox"; box.checked = true; box.value = i;
        box.addEventListener("change", draw);
        label.append(box, " " + name);
        switches.append(label);
      });
    } else if (switches) switches.hidden = true;
    drawn.push(draw);
    return draw();
  }

  async function unpacked(id, type) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Blob([await new Response(stream).arrayBuffer()], { type });
  }

  async function library() {
    const script = await unpacked("library", "text/javascript");
    await new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = URL.createObjectURL(script);
      element.onload = done;
      element.onerror = () => failed(new Error("the charting library did not load"));
      document.head.append(element);
    });
  }

  $(".download").forEach((button) => button.addEventListener("click", async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await unpacked("report-" + button.dataset.report, "application/json"));
    link.download = "memgauge-report-" + button.dataset.report + ".json";
    link.click();
  }));
  const redraw = () => drawn.forEach((draw) => draw());
  $(".machine").forEach((box) => box.addEventListener("change", () => {
    const of = picked();
    $("figure.drawn").forEach((figure, i) => {
      const report = data.charts[i].heat ? data.charts[i].report : undefined;
      if (report !== undefined && several) figure.hidden = !of.has(report);
    });
    redraw();
  }));
  document.getElementById("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  for (const [event, now] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(event, () => {
      printing = now;
      redraw();
      if (!printing) $(".js-plotly-plot").filter((place) => place.offsetParent).forEach((place) => Plotly.Plots.resize(place));
    });
  }

  try {
    if (data.charts.length) await library();
    const byName = (name) => data.charts.find((c) => c.name === name && c.lines && !c.lines.names && c.lines.title === "size");
    const [above, below] = [byName("bandwidth"), byName("latency")];
    if (above && below && above.lines.log === below.lines.log) {
      const figure = document.getElementById("hierarchy");
      figure.hidden = false;
      const place = figure.querySelector(".chart");
      await show(place, (narrow) => ofHierarchy(above, below, narrow), []);
      tellByKeys(place, wordsOfLines(above.lines.series.concat(below.lines.series)));
    }
    const places = $("figure.drawn .chart");
    for (const [i, chart] of data.charts.entries()) {
      const names = chart.lines ? chart.lines.series.map((s) => s.name || "all points") : [];
      await show(places[i], (narrow) => chart.lines ? ofLines(chart, narrow) : ofHeat(chart, narrow), names);
      tellByKeys(places[i], chart.lines ? wordsOfLines(chart.lines.series) : wordsOfHeat(chart.heat));
    }
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.textContent = "The charts could not be drawn (" + error.message + "); all numbers are in the tables below.";
  }
})();
