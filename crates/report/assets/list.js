// The list of findings and its filters. A finding is shown if it fits every group of filters; within
// a group of chips one of the pressed ones is enough.

const entries = [...document.querySelectorAll(".entries > li[data-f]")].map((item) => {
  const index = Number(item.dataset.f);
  const finding = page.findings[index];
  const reason = document.querySelector(`#f${index} h2`).textContent;
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

function applyFilter() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [kinds, tags] = [pressed("kind"), pressed("tag")];
  const file = document.getElementById("file")?.value ?? "";
  let shown = 0;
  for (const entry of entries) {
    const { finding } = entry;
    const fits = words.every((word) => entry.words.includes(word))
      && (kinds.length === 0 || kinds.includes(finding.kind))
      && (tags.length === 0 || finding.tags.some((tag) => tags.includes(tag)))
      && (file === "" || (finding.group ?? finding.file) === Number(file));
    entry.item.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  hideEmptyHeadings();
  const all = entries.length;
  const noun = all === 1 ? "finding" : "findings";
  document.getElementById("shown").textContent = shown === all ? `${all} ${noun}` : `${shown} of ${all} ${noun}`;
  document.getElementById("nothing").hidden = shown > 0;
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
  for (const entry of entries) {
    if (entry.index === index) {
      entry.link.setAttribute("aria-current", "true");
      entry.item.scrollIntoView({ block: "nearest" });
    } else {
      entry.link.removeAttribute("aria-current");
    }
  }
}

/** The finding before or after the open one, among those that the filter shows. */
function neighbour(direction) {
  const shown = entries.filter((entry) => !entry.item.hidden);
  const at = shown.findIndex((entry) => entry.index === open?.index);
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
