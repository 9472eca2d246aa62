"use strict";
(() => {
  const data = JSON.parse(document.getElementById("charts").textContent);
  const { colors, marks, radius, dashes, steps } = data.looks;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

  // Text of a report becomes text of the page, never tags: nothing here parses HTML.
  function html(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  function svg(parent, name, attributes = {}, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  // Numbers that no machine reaches are in the tables: no pixel is far enough away.
  const drawable = (value, log) => Number.isFinite(value) && Math.abs(value) < 1e100 && (!log || value > 1e-100);
  const within = (value, low, high) => Math.max(low, Math.min(value, high));
  const pixel = (value) => Math.round(within(value, -1e5, 1e5) * 10) / 10;

  // --- Axes. A range is kept in steps of equal distance: logarithms on logarithmic axes.

  const straight = (scale, value) => scale.log ? Math.log(value) : value;
  const curved = (scale, place) => scale.log ? Math.exp(place) : place;

  function axis(scale, range, start, end) {
    const [low, high] = range;
    const at = (value) => start + (end - start) * (straight(scale, value) - low) / (high - low);
    const back = (place) => low + (high - low) * (place - start) / (end - start);
    return { at, back, start, end, ticks: (most) => ticks(scale, curved(scale, low), curved(scale, high), most) };
  }

  function nice(least, power) {
    if (power) return 2 ** Math.ceil(Math.log2(least));
    const ten = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((n) => n * ten).find((step) => step >= least * 0.999);
  }

  // Values with what is written at them: round, and at most about so many.
  function ticks(scale, low, high, most) {
    const kind = scale.numbers, found = [];
    const add = (value) => { if (value >= low && value <= high && found.length < 200) found.push([value, label(scale, value)]); };
    const bytes = kind === "bytes", powers = kind === "values" ? 10 : 2;
    if (scale.log && high / low > (kind === "values" ? 5 : 4)) {
      const base = Math.log(powers);
      const first = Math.floor(Math.log(low) / base), last = Math.ceil(Math.log(high) / base);
      const step = Math.max(1, Math.ceil((last - first) / most));
      const between = powers === 10 && last - first <= most / 2 ? [1, 2, 5] : [1];
      for (let power = first; power <= last; power += step) between.forEach((n) => add(n * powers ** power));
      return found;
    }
    const least = (high - low) / most;
    const step = kind === "values" ? nice(least) : Math.max(1, nice(least, bytes));
    for (let n = Math.ceil(low / step); n * step <= high && found.length < 200; n++) add(n * step);
    return found;
  }

  function label(scale, value) {
    if (scale.names) return scale.names[value] ?? "";
    if (scale.numbers === "bytes") {
      const power = within(Math.floor(Math.log2(Math.max(value, 1)) / 10), 0, 6);
      return Number((value / 1024 ** power).toPrecision(4)) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][power];
    }
    return Math.abs(value) < 1e9 ? String(Number(value.toPrecision(6))) : value.toExponential(2);
  }

  const shorten = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

  // --- What a chart is made of.

  // The path of a mark at each place.
  function markPath(form, places) {
    if (!form.length) return places.map(([x, y]) => `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`).join("");
    return places.map(([x, y]) => "M" + form.map(([dx, dy]) => `${pixel(x + dx)} ${pixel(y + dy)}`).join("L") + "Z").join("");
  }
  const crossPath = (places) => places.map(([x, y]) => `M${x - 5} ${y - 5}l10 10m0 -10l-10 10`).join("");

  function line(parent, d, look, more) {
    return svg(parent, "path", { d, class: "line", stroke: colors[look.color], "stroke-dasharray": dashes[look.dash].join(" "), ...more });
  }

  // What a series looks like, for its name.
  function sample(series, joined) {
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [key, value] of Object.entries({ width: 48, height: 16, "aria-hidden": "true" })) picture.setAttribute(key, value);
    if (joined) line(picture, "M0 8H48", series.look);
    svg(picture, "path", { d: markPath(marks[series.look.mark], [[24, 8]]), fill: colors[series.look.color], stroke: colors[series.look.color] });
    return picture;
  }

  // Series over an axis.
  function linesOf(chart) {
    const { lines } = chart, { series, x, y } = lines;
    return {
      x, y, title: chart.values, series,
      words: series.map((s) => s.words.map((words) => [s.name, words])),
      ranges(shown) {
        let low = Infinity, high = -Infinity;
        for (const s of series.filter((_, i) => shown(i))) {
          for (const value of [...s.y, ...s.low, ...s.high]) {
            if (drawable(value, y.log)) [low, high] = [Math.min(low, value), Math.max(high, value)];
          }
        }
        if (low > high) [low, high] = y.log ? [1, 10] : [0, 1];
        if (y.log) {
          const room = Math.max(Math.log(high / low) * 0.04, 0.05);
          return { x: [straight(x, x.low), straight(x, x.high)], y: [Math.log(low) - room, Math.log(high) + room] };
        }
        [low, high] = [Math.min(low, 0), Math.max(high, 0)];
        return { x: [straight(x, x.low), straight(x, x.high)], y: [low, high > low ? high + (high - low) * 0.05 : low + 1] };
      },
      draw(under, over, place, shown) {
        const { left, right, top, bottom, across, up } = place;
        const middle = (mark) => (within(across.at(mark.from), left, right) + within(across.at(mark.to), left, right)) / 2;
        lines.marks.forEach((mark, i) => {
          const [from, to] = [mark.from, mark.to].map((end) => within(across.at(end), left, right));
          if (to - from < 1) return;
          if (i % 2 === 0) svg(under, "rect", { class: "shade", x: pixel(from), y: top, width: pixel(to - from), height: bottom - top });
          const letters = Math.floor((to - from) / 7);
          if (letters > 1) svg(over, "text", { class: "level", x: pixel(middle(mark)), y: top - 8, "text-anchor": "middle" }, shorten(mark.name, letters));
        });
        const spots = series.map((s, row) => shown(row) ? s.x.map((value, i) => [pixel(across.at(value)), drawable(s.y[i], y.log) ? pixel(up.at(s.y[i])) : null]) : []);
        const clipped = svg(over, "g", { "clip-path": `url(#${place.clip})` });
        series.forEach((s, row) => {
          if (!shown(row)) return;
          const seen = spots[row].map((spot, i) => [spot, i]).filter(([spot]) => spot[1] !== null);
          const color = colors[s.look.color];
          if (!x.names) {
            let pen = "M";
            line(clipped, spots[row].map(([px, py]) => {
              if (py === null) { pen = "M"; return ""; }
              const step = `${pen}${px} ${py}`;
              pen = "L";
              return step;
            }).join(""), s.look, { "data-series": row });
          }
          const end = (value, own) => drawable(value, y.log) ? pixel(up.at(value)) : own;
          let bars = seen.map(([[px, py], i]) => `M${px} ${end(s.low[i], py)}V${end(s.high[i], py)}`).join("");
          if (s.xLow) bars += seen.map(([[, py], i]) => `M${pixel(across.at(s.xLow[i]))} ${py}H${pixel(across.at(s.xHigh[i]))}`).join("");
          svg(clipped, "path", { class: "interval", d: bars, stroke: color });
          const form = marks[s.look.mark];
          for (const grade of "sdr") {
            const places = seen.filter(([, i]) => s.grades[i] === grade).map(([spot]) => spot);
            if (!places.length) continue;
            const d = grade === "r" ? crossPath(places) : markPath(form, places);
            svg(clipped, "path", { d, stroke: color, ...(grade === "s" ? { fill: color } : { class: grade === "d" ? "hollow" : "cross" }) });
          }
        });
        for (const note of lines.notes) {
          const [px, py] = [across.at(note.x), up.at(note.y)];
          if (px < left || px > right || py < top || py > bottom) continue;
          svg(over, "circle", { class: "ring", cx: pixel(px), cy: pixel(py), r: 9 });
          const far = px > (left + right) / 2;
          svg(over, "text", { class: "note", x: pixel(px + (far ? -13 : 13)), y: pixel(py + 20), "text-anchor": far ? "end" : "start" }, note.text);
        }
        return spots;
      },
    };
  }

  // Values between ends.
  function heatOf(chart) {
    const { heat } = chart, bound = (value) => within(value, -1e100, 1e100);
    const [low, high] = [bound(heat.low), bound(heat.high)];
    const names = (title, list) => ({ title, names: list, numbers: null, log: false, low: -0.5, high: list.length - 0.5 });
    const x = names(heat.columnTitle, heat.columns), y = names(heat.rowTitle, heat.rows);
    const color = (value) => steps[within(Math.round((bound(value) - low) / (high - low) * (steps.length - 1)) || 0, 0, steps.length - 1)];
    const words = (row, column) => heat.words?.[row][column] ?? (heat.values[row][column] === null ? "not measured" : String(heat.values[row][column]));
    const figure = (row, column) => (heat.words ? heat.words[row][column].split(" ")[0] : String(Number(heat.values[row][column].toPrecision(3)))) + ({ d: "?", r: "!" }[heat.grades[row][column]] ?? "");
    const cells = document.createElement("canvas");
    [cells.width, cells.height] = [x.names.length, y.names.length];
    const paint = cells.getContext("2d"), pixels = paint.createImageData(cells.width, cells.height);
    heat.values.forEach((row, i) => row.forEach((value, j) => {
      if (value === null) return;
      const rgb = parseInt(color(value).slice(1), 16);
      pixels.data.set([rgb >> 16, rgb >> 8 & 255, rgb & 255, 255], 4 * (i * cells.width + j));
    }));
    paint.putImageData(pixels, 0, 0);
    const image = cells.toDataURL();
    return {
      x, y, title: heat.rowTitle, series: [], heat: chart.values, down: true,
      words: heat.rows.map((name, row) => heat.columns.map((other, column) =>
        [`${heat.rowTitle} ${name}, ${heat.columnTitle} ${other}`, words(row, column)])),
      ranges: () => ({ x: [x.low, x.high], y: [y.low, y.high] }),
      draw(under, over, place) {
        const { across, up } = place;
        const clipped = svg(over, "g", { "clip-path": `url(#${place.clip})` });
        const [left, right, top, bottom] = [across.at(x.low), across.at(x.high), up.at(y.low), up.at(y.high)];
        svg(clipped, "image", { class: "cells", href: image, x: left, y: top, width: right - left, height: bottom - top, preserveAspectRatio: "none" });
        const [wide, tall] = [(right - left) / x.names.length, (bottom - top) / y.names.length];
        const spots = y.names.map((_, row) => x.names.map((_, column) => [pixel(across.at(column)), pixel(up.at(row))]));
        if (wide > 36 && tall > 14) {
          spots.forEach((row, i) => row.forEach(([px, py], j) => {
            const value = heat.values[i][j];
            if (value === null || px < place.left || px > place.right || py < place.top || py > place.bottom) return;
            const light = (bound(value) - low) / (high - low) >= 0.55;
            svg(clipped, "text", { class: light ? "dark figure" : "light figure", x: px, y: py + 5, "text-anchor": "middle" }, figure(i, j));
          }));
        }
        // What the colours mean.
        const from = place.right + 24, step = (place.bottom - place.top) / steps.length;
        steps.forEach((one, i) => svg(over, "rect", { x: from, y: pixel(place.bottom - (i + 1) * step), width: 16, height: pixel(step) + 0.5, fill: one }));
        svg(over, "text", { x: from + 8, y: place.top - 8, "text-anchor": "middle" }, label({ numbers: "values" }, Number(high.toPrecision(3))));
        svg(over, "text", { x: from + 8, y: place.bottom + 18, "text-anchor": "middle" }, label({ numbers: "values" }, Number(low.toPrecision(3))));
        svg(over, "text", { transform: `translate(${from + 34} ${(place.top + place.bottom) / 2}) rotate(90)`, "text-anchor": "middle" }, chart.values);
        return spots;
      },
    };
  }

  // --- One chart with its switches.

  const picked = () => new Set(all(".machine").filter((box) => box.checked).map((box) => Number(box.dataset.report)));

  function show(figure, chart, number) {
    const place = figure.querySelector(".chart"), body = chart.lines ? linesOf(chart) : heatOf(chart);
    const boxes = [], clip = "plot-" + number;
    let view = null, full, scene, spots = [], ring, at;
    const shown = (i) => (boxes[i]?.checked ?? true) && (body.series[i] === undefined || data.reports.length < 2 || picked().has(body.series[i].report));
    const tip = html("div", { className: "tip", hidden: true });
    const told = html("p", { className: "small told" });
    told.setAttribute("aria-live", "polite");

    function draw() {
      const width = place.clientWidth, height = place.clientHeight;
      if (!width) return;
      place.querySelector("svg")?.remove();
      hide();
      full = body.ranges(shown);
      const { x: ofX, y: ofY } = view ?? full;
      const picture = svg(place, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      const longest = (labels) => Math.max(0, ...labels.map(([, text]) => Math.min(text.length, 28)));
      const rows = axis(body.y, ofY, 0, height).ticks(Math.max(3, height / 50));
      const left = Math.round(Math.min(longest(rows), width < 600 ? 12 : 28) * 7.2 + 34), right = width - (body.heat ? 84 : 14), top = 28;
      const columns = axis(body.x, ofX, left, right).ticks(Math.max(2, body.x.names ? (right - left) / 18 : (right - left) / 78));
      const turned = body.x.names && longest(columns) * 7.2 * columns.length > right - left;
      const bottom = height - (turned ? Math.min(longest(columns), 24) * 6.4 + 34 : 48);
      const across = axis(body.x, ofX, left, right);
      const up = body.down ? axis(body.y, ofY, top, bottom) : axis(body.y, ofY, bottom, top);
      svg(svg(svg(picture, "defs"), "clipPath", { id: clip }), "rect", { x: left, y: top - 1, width: right - left, height: bottom - top + 2 });
      const under = svg(picture, "g"), grid = svg(picture, "g"), over = svg(picture, "g");
      svg(grid, "rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top });
      for (const [value, text] of columns) {
        const px = pixel(across.at(value));
        if (!body.heat) svg(grid, "path", { class: "grid", d: `M${px} ${top}V${bottom}` });
        const where = turned ? { transform: `translate(${px - 4} ${bottom + 8}) rotate(90)` } : { x: px, y: bottom + 18, "text-anchor": "middle" };
        svg(grid, "text", { class: "tick", ...where }, shorten(text, turned ? 24 : 28));
      }
      for (const [value, text] of body.y.names ? rows : up.ticks(Math.max(3, (bottom - top) / 50))) {
        const py = pixel(up.at(value));
        if (!body.heat) svg(grid, "path", { class: "grid", d: `M${left} ${py}H${right}` });
        svg(grid, "text", { class: "tick", x: left - 6, y: py + 4, "text-anchor": "end" }, shorten(text, width < 600 ? 12 : 28));
      }
      svg(grid, "text", { x: (left + right) / 2, y: height - 6, "text-anchor": "middle" }, body.x.title);
      svg(grid, "text", { transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, body.title);
      scene = { left, right, top, bottom, across, up, clip };
      spots = body.draw(under, over, scene, shown);
      ring = svg(over, "circle", { class: "ring", r: 10, visibility: "hidden" });
      place.dataset.view = JSON.stringify([ofX, ofY].flat());
      whole.disabled = !view;
    }

    function hide() {
      tip.hidden = true;
      ring?.setAttribute("visibility", "hidden");
    }

    // What is to be told of a point, beside it.
    function tell(row, column) {
      const [name, words] = body.words[row][column], [px, py] = spots[row]?.[column] ?? [0, null];
      if (py === null || !scene) return hide();
      ring.setAttribute("cx", px);
      ring.setAttribute("cy", py);
      ring.setAttribute("visibility", "visible");
      tip.replaceChildren(...(name ? [html("strong", { textContent: name }), html("br")] : []), words);
      tip.hidden = false;
      tip.style.left = within(px + 14, 0, Math.max(0, place.clientWidth - tip.offsetWidth)) + "px";
      tip.style.top = (py + 14 + tip.offsetHeight > place.clientHeight ? Math.max(0, py - 14 - tip.offsetHeight) : py + 14) + "px";
    }

    // The point that is nearest to a pixel; none where none is near. Cells of a map lie side by side: the one around it.
    function nearest(px, py) {
      if (body.heat) {
        const [column, row] = [Math.round(scene.across.back(px)), Math.round(scene.up.back(py))];
        return spots[row]?.[column] && inside(px, py) ? [row, column] : undefined;
      }
      let best, least = 40 ** 2;
      spots.forEach((row, i) => row.forEach(([x, y], j) => {
        const distance = y === null || !inside(x, y) ? Infinity : (x - px) ** 2 + (y - py) ** 2;
        if (distance < least) [best, least] = [[i, j], distance];
      }));
      return best;
    }
    const inside = (px, py) => px >= scene.left - 1 && px <= scene.right + 1 && py >= scene.top - 1 && py <= scene.bottom + 1;

    // --- Enlarging.

    function look(x, y) {
      const far = (range) => Math.abs(range[1] - range[0]) > 1e-9 * Math.max(1, Math.abs(range[0]));
      if (far(x) && far(y)) {
        view = { x, y };
        draw();
      }
    }
    // The part around a pixel, so many times as wide.
    function scaled(factor, px = (scene.left + scene.right) / 2, py = (scene.top + scene.bottom) / 2) {
      const { x, y } = view ?? full;
      const around = (range, middle) => range.map((end) => middle + (end - middle) * factor);
      look(around(x, scene.across.back(px)), around(y, scene.up.back(py)));
    }
    function reset() {
      view = null;
      draw();
    }
    const where = (event) => {
      const box = place.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let drag;
    place.addEventListener("pointerdown", (event) => {
      const from = where(event);
      if (event.button || !inside(...from)) return;
      drag = { from, view: view ?? full, moved: false, pan: event.shiftKey };
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      const [px, py] = where(event);
      if (!drag) {
        const found = nearest(px, py);
        return found ? tell(...found) : hide();
      }
      const [fromX, fromY] = drag.from;
      drag.moved ||= Math.hypot(px - fromX, py - fromY) > 6;
      if (!drag.moved) return;
      hide();
      if (drag.pan) {
        const moved = (range, from, to) => range.map((end) => end - (to - from));
        const { across, up } = drag.scene ??= scene;
        look(moved(drag.view.x, across.back(fromX), across.back(px)), moved(drag.view.y, up.back(fromY), up.back(py)));
        return;
      }
      const [x, y] = [within(px, scene.left, scene.right), within(py, scene.top, scene.bottom)];
      drag.to = [x, y];
      drag.box ??= svg(place.querySelector("svg"), "rect", { class: "box" });
      // A flat or narrow box means one direction only.
      const [flat, narrow] = [Math.abs(y - fromY) < 12, Math.abs(x - fromX) < 12];
      const [left, right] = narrow ? [scene.left, scene.right] : [Math.min(fromX, x), Math.max(fromX, x)];
      const [top, bottom] = flat ? [scene.top, scene.bottom] : [Math.min(fromY, y), Math.max(fromY, y)];
      drag.part = { left, right, top, bottom };
      for (const [key, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) drag.box.setAttribute(key, value);
    });
    const drop = (event) => {
      const done = drag;
      drag = undefined;
      done?.box?.remove();
      if (!done?.part || event.type === "pointercancel") return;
      const { left, right, top, bottom } = done.part, { across, up } = scene;
      look([across.back(left), across.back(right)], [up.back(up.start > up.end ? bottom : top), up.back(up.start > up.end ? top : bottom)]);
    };
    place.addEventListener("pointerup", drop);
    place.addEventListener("pointercancel", drop);
    place.addEventListener("pointerleave", () => drag || hide());
    place.addEventListener("dblclick", reset);
    place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      scaled(event.deltaY > 0 ? 1.25 : 0.8, ...where(event));
    }, { passive: false });

    // The same by keys, and points one by one in the words that the mouse is shown.
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    place.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") {
        told.textContent = "";
        hide();
      }
      const action = { "+": () => scaled(0.8), "-": () => scaled(1.25), 0: reset }[event.key];
      const step = moves[event.key], rows = body.words.map((_, i) => i).filter((i) => body.heat || shown(i));
      if (action) action();
      if (action || step) event.preventDefault();
      if (!step || !rows.length) return;
      const row = at && rows.includes(at[0]) ? rows[within(rows.indexOf(at[0]) + step[0], 0, rows.length - 1)] : rows[0];
      at = [row, at ? within(at[1] + step[1], 0, body.words[row].length - 1) : 0];
      told.textContent = body.words[at[0]][at[1]].filter(Boolean).join(": ");
      tell(...at);
    });

    // --- Switches.

    const button = (text, title, action) => html("button", { type: "button", textContent: text, title, onclick: action });
    const whole = button("All", "Show the whole chart", reset);
    const tools = html("div", { className: "tools" },
      button("+", "Enlarge", () => scaled(0.8)), button("\u2212", "Shrink", () => scaled(1.25)), whole);
    const names = figure.querySelector(".series");
    const labels = body.series.length > 1 ? body.series.map((series) => {
      const box = html("input", { type: "checkbox", checked: true, onchange: draw });
      boxes.push(box);
      const label = html("label", { title: "A double click leaves this one alone" }, box, sample(series, !body.x.names), " " + (series.name || "all others"));
      label.addEventListener("dblclick", () => {
        const alone = boxes.every((other) => other === box || !other.checked);
        boxes.forEach((other) => { other.checked = alone || other === box; });
        draw();
      });
      return label;
    }) : [];
    const every = (checked) => () => {
      boxes.forEach((box) => { box.checked = checked; });
      draw();
    };
    names.append(...labels);
    if (labels.length > 2) names.append(button("All", "Switch all series on", every(true)), button("None", "Switch all series off", every(false)));
    names.hidden = !labels.length;
    place.append(tip);
    figure.querySelector("figcaption").append(tools);
    place.after(told);
    new ResizeObserver(draw).observe(place);
    addEventListener("reports", () => {
      const of = picked();
      figure.hidden = data.reports.length > 1 && chart.heat !== null && !of.has(chart.report);
      labels.forEach((label, i) => { label.hidden = !of.has(body.series[i].report); });
      draw();
    });
    draw();
  }

  // --- The rest of the page.

  async function unpacked(id, type) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Blob([await new Response(stream).arrayBuffer()], { type });
  }

  all(".download").forEach((button) => button.addEventListener("click", async () => {
    const link = html("a", { href: URL.createObjectURL(await unpacked("report-" + button.dataset.report, "application/json")) });
    link.download = "memgauge-report-" + button.dataset.report + ".json";
    link.click();
  }));
  all(".machine").forEach((box) => box.addEventListener("change", () => dispatchEvent(new Event("reports"))));
  document.getElementById("theme").addEventListener("click", () => {
    const chosen = document.documentElement.dataset.theme;
    const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });

  try {
    all("figure.drawn").forEach((figure, i) => show(figure, data.charts[i], i));
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.textContent = "The charts could not be drawn (" + error.message + "); all numbers are in the tables below.";
  }
})();
