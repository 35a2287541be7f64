// The list of findings and its filters. A finding is shown if it fits every group of filters; within
// a group of chips one of the pressed ones is enough.

const entries = [...document.querySelectorAll(".entries > li[data-f]")].map((item) => {
  const index = Number(item.dataset.f);
  const finding = page.findings[index];
  const reason = finding.reason ?? document.querySelector(`#f${index} h2`).textContent;
  const words = [item.textContent, reason, ...finding.tags, finding.id].join(" ").toLowerCase();
  const link = item.querySelector("a");
  link.href = address(index);
  return { item, index, finding, words, link };
});

function address(index, position) {
  const step = position ? `&step=${position}` : "";
  return `#finding=${encodeURIComponent(page.findings[index].id)}${step}`;
}

function pressed(attribute) {
  const chips = document.querySelectorAll(`.chip[data-${attribute}][aria-pressed="true"]`);
  return [...chips].map((chip) => chip.dataset[attribute]);
}

/** Shows what fits all filters; each choice says how many findings it would leave with the other filters. */
function applyFilter() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [kinds, tags] = [pressed("kind"), pressed("tag")];
  const file = document.getElementById("file")?.value ?? "";
  const counts = { kind: new Map(), tag: new Map(), file: new Map() };
  const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
  let shown = 0;
  for (const entry of entries) {
    const { finding } = entry;
    const said = words.every((word) => entry.words.includes(word));
    const ofKind = kinds.length === 0 || kinds.includes(finding.kind);
    const tagged = tags.length === 0 || finding.tags.some((tag) => tags.includes(tag));
    const inFile = file === "" || (finding.group ?? finding.file) === Number(file);
    if (said && tagged && inFile) count(counts.kind, finding.kind);
    if (said && ofKind && inFile) for (const tag of finding.tags) count(counts.tag, tag);
    if (said && ofKind && tagged) count(counts.file, finding.group ?? finding.file);
    const fits = said && ofKind && tagged && inFile;
    entry.item.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  showCounts(counts);
  hideEmptyHeadings();
  const all = entries.length;
  const noun = all === 1 ? "finding" : "findings";
  document.getElementById("shown").textContent = shown === all ? `${all} ${noun}` : `${shown} of ${all} ${noun}`;
  document.getElementById("nothing").hidden = shown > 0;
}

function showCounts(counts) {
  for (const chip of document.querySelectorAll(".chip")) {
    const { kind, tag } = chip.dataset;
    chip.querySelector(".count").textContent = (kind ? counts.kind.get(kind) : counts.tag.get(tag)) ?? 0;
  }
  for (const option of document.querySelectorAll("#file option[value]:not([value=''])")) {
    option.textContent = `${option.textContent.replace(/ \(\d+\)$/, "")} (${counts.file.get(Number(option.value)) ?? 0})`;
  }
}

/** Shows the findings of a file only, and of a kind if one is named. */
function filterFile(file, kind) {
  document.getElementById("filter").value = "";
  const choice = document.getElementById("file");
  if (choice) choice.value = [...choice.options].some((option) => option.value === file) ? file : "";
  for (const chip of document.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(kind !== undefined && chip.dataset.kind === kind));
  applyFilter();
}

/** The names of files are shown if one of the findings below them is. */
function hideEmptyHeadings() {
  let heading = null;
  for (const item of document.querySelector(".entries").children) {
    if (item.classList.contains("file")) {
      heading = item;
      heading.hidden = true;
    } else if (heading && !item.hidden) {
      heading.hidden = false;
    }
  }
}

function markEntry(index) {
  document.querySelector(".entry[aria-current]")?.removeAttribute("aria-current");
  const entry = entries[index];
  if (!entry) return;
  entry.link.setAttribute("aria-current", "true");
  // Within the list, and not the page, which has something else to show.
  const pane = entry.item.closest(".entries").scrollHeight > entry.item.closest(".entries").clientHeight ? entry.item.closest(".entries") : document.getElementById("list");
  const [box, inner] = [pane.getBoundingClientRect(), entry.item.getBoundingClientRect()];
  if (inner.top < box.top) pane.scrollTop += inner.top - box.top;
  else if (inner.bottom > box.bottom) pane.scrollTop += inner.bottom - box.bottom;
}

/** The finding before or after the open one, among those that the filter shows. */
function neighbour(direction) {
  const shown = entries.filter((entry) => !entry.item.hidden);
  const at = shown.findIndex((entry) => entry.index === (wanted ?? open?.index));
  const next = at < 0 ? shown.at(direction > 0 ? 0 : -1) : shown[at + direction];
  return next?.index;
}

if (entries.length) {
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filter").addEventListener("input", applyFilter);
  document.getElementById("file")?.addEventListener("change", applyFilter);
  for (const chip of document.querySelectorAll(".chip")) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      applyFilter();
    });
  }
}
