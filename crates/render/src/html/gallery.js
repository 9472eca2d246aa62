"use strict";
// Sorts the table of machines and filters it by core design. Without scripts the page has all of its
// content in the order of the command line.
(() => {
  const table = document.getElementById("gallery");
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll("th[data-column]")];
  const cell = (row, column) => row.cells[column].dataset.sort;

  // Machines without a value come last in both directions.
  const compare = (head, sign) => (a, b) => {
    const column = Number(head.dataset.column);
    const [x, y] = [cell(a, column), cell(b, column)];
    if (x === y || (x === "" && y === "")) return 0;
    if (x === "") return 1;
    if (y === "") return -1;
    return sign * (head.dataset.kind === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));
  };

  const sort = (head) => {
    const first = head.dataset.first;
    const other = first === "ascending" ? "descending" : "ascending";
    const way = head.getAttribute("aria-sort") === first ? other : first;
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way);
    const rows = [...body.rows].sort(compare(head, way === "ascending" ? 1 : -1));
    body.append(...rows);
    for (const place of document.querySelectorAll(".machines")) {
      const parts = new Map([...place.children].map((part) => [part.dataset.machine, part]));
      place.append(...rows.map((row) => parts.get(row.dataset.machine)).filter(Boolean));
    }
  };

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  const filter = document.getElementById("filter");
  const select = filter.querySelector("select");
  const shown = document.getElementById("shown");
  const choose = () => {
    const design = select.value;
    for (const part of document.querySelectorAll("[data-design]"))
      part.hidden = design !== "" && part.dataset.design !== design;
    const rows = [...body.rows];
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} machines`;
  };
  select.addEventListener("change", choose);
  filter.hidden = false;
  choose();

  // A link to a machine opens its details.
  const open = () => {
    const details = document.getElementById(location.hash.slice(1))?.closest("details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", open);
  for (const link of table.querySelectorAll("a")) link.addEventListener("click", () => setTimeout(open));
  open();
})();
