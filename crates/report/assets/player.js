// The open finding: its current step in the diagram, the source and the panel of the state. A step
// changes classes of a few elements and builds nothing but the small panel.

const root = document.documentElement;
const controls = document.getElementById("controls");
const scrub = document.getElementById("scrub");
const side = document.getElementById("side");
const live = document.getElementById("live");

/** What is open: the finding, its elements, where it can stop and where it is. */
let open;

function openFinding(index, position) {
  if (open?.index === index) {
    if (position) goTo(position);
    return;
  }
  closeFinding();
  const finding = page.findings[index];
  const article = document.getElementById(`f${index}`);
  const items = [...article.querySelectorAll(".piece li")];
  open = { index, finding, article, items, source: document.getElementById(`s${finding.file}`), at: -1, stop: 0 };
  open.heads = [...article.querySelectorAll(".head:not(.data)")];
  open.lanes = lanesOf(finding);
  open.done = -1;
  root.dataset.view = "finding";
  article.classList.add("open");
  open.source.classList.add("open");
  article.querySelector(".about").after(controls);
  open.folded = new Map([...article.querySelectorAll(".fold")].map((row) => [row.dataset.open, row]));
  for (const link of article.querySelectorAll(".piece a")) link.tabIndex = -1;
  const silent = Number(article.querySelector(".diagram").dataset.silent);
  const folded = items.filter((item) => item.dataset.p && item.dataset.fold !== undefined && !item.classList.contains("full")).length;
  document.getElementById("silent").hidden = silent + folded === 0;
  document.getElementById("silent").querySelector("span").textContent = `All steps (+${silent + folded})`;
  markSource();
  findStops();
  const view = document.getElementById("view");
  view.scrollTop = 0;
  if (position) uncover(position);
  goTo(position || firstPosition(), !position);
}

/** Whether a row is in a fold that is closed. */
function isFolded(item) {
  return item.dataset.fold !== undefined && !item.classList.contains("unfolded");
}

/** Opens or closes a fold of the open finding. */
function toggleFold(name, wanted) {
  const button = open.folded.get(name).firstElementChild;
  const opens = wanted ?? button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(opens));
  for (const part of open.article.querySelectorAll(`[data-fold="${name}"]`)) part.classList.toggle("unfolded", opens);
  refresh();
}

/** Opens the fold that hides a position, if one does. */
function uncover(position) {
  const item = document.getElementById(`f${open.index}-${position}`);
  if (item && root.classList.contains("events") && isFolded(item)) toggleFold(item.dataset.fold, true);
}

/** After rows were shown or hidden: where one can stop, how high pieces are, and the current step. */
function refresh() {
  const { position } = open;
  row()?.classList.remove("now");
  row()?.removeAttribute("aria-current");
  findStops();
  const events = root.classList.contains("events");
  for (const piece of open.article.querySelectorAll(".piece")) {
    const shown = [...piece.querySelectorAll("li")].filter((item) => !(events ? item.classList.contains("full") || isFolded(item) : item.classList.contains("brief")));
    piece.style.setProperty("--seen", shown.length);
  }
  open.stop = 0;
  if (position) goTo(position, true);
}

function closeFinding() {
  if (!open) return;
  open.article.classList.remove("open");
  open.source.classList.remove("open");
  open.mark?.remove();
  for (const line of open.source.querySelectorAll(".hit, .now, [data-here]")) {
    line.classList.remove("hit", "now", "whole");
    delete line.dataset.here;
    delete line.dataset.match;
    line.querySelector(".n").tabIndex = -1;
  }
  row()?.classList.remove("now");
  row()?.removeAttribute("aria-current");
  setDone(-1);
  open = undefined;
}

function firstPosition() {
  return open.stops.length ? open.stops[0].position : 0;
}

/** The rows that are shown, each with its place among all items of the diagram. */
function findStops() {
  const events = root.classList.contains("events");
  open.stops = [];
  open.items.forEach((item, at) => {
    const position = Number(item.dataset.p);
    if (position && !(events && (item.classList.contains("full") || isFolded(item)))) open.stops.push({ position, item, at });
  });
  scrub.max = Math.max(open.stops.length - 1, 0);
}

function markSource() {
  for (const step of [...open.finding.steps, ...open.finding.next]) {
    const line = sourceLine(step[3]);
    if (!line) continue;
    line.classList.add("hit");
    line.querySelector(".n").tabIndex = 0;
    if (step[4]) line.dataset.match = line.dataset.match ? `${line.dataset.match} ${step[4]}` : step[4];
  }
}

function sourceLine(number) {
  return number ? document.getElementById(`s${open.finding.file}-${number}`) : null;
}

function row() {
  return open.stops?.[open.stop]?.item;
}

/** Goes to the stop at a position, or to the last one before it. */
function goTo(position, quiet) {
  let stop = open.stops.findLastIndex((one) => one.position <= position);
  if (stop < 0) stop = 0;
  show(stop, quiet);
}

function show(stop, quiet) {
  if (!open || !open.stops.length) return;
  row()?.classList.remove("now");
  row()?.removeAttribute("aria-current");
  const oldLink = row()?.querySelector("a");
  if (oldLink) oldLink.tabIndex = -1;
  open.stop = Math.max(0, Math.min(stop, open.stops.length - 1));
  const { position, item, at } = open.stops[open.stop];
  open.position = position;
  item.classList.add("now");
  item.setAttribute("aria-current", "step");
  const link = item.querySelector("a");
  if (link) link.tabIndex = 0;
  setDone(at);
  const said = sentence(open.finding, position);
  scrub.value = open.stop;
  scrub.setAttribute("aria-valuetext", said);
  showWhere(position);
  showSource(position);
  showState(position);
  if (!quiet) {
    // The text of the step, and not the row, which goes through all lanes.
    item.querySelector(".what").scrollIntoView({ block: "nearest", inline: "nearest" });
    live.textContent = said;
  }
  rememberPlace(!quiet);
}

/** Colours the line of execution up to an item. */
function setDone(at) {
  const { items, done } = open;
  for (let i = done + 1; i <= at; i++) items[i].classList.add("done");
  for (let i = at + 1; i <= done; i++) items[i].classList.remove("done");
  open.done = at;
}

function showWhere(position) {
  const total = open.finding.steps.length;
  const shown = isNext(open.finding, position) ? `after ${total}` : `${position} / ${total}`;
  document.getElementById("where").textContent = shown;
  const [first, last] = [open.stop === 0, open.stop === open.stops.length - 1];
  for (const button of controls.querySelectorAll("[data-go]")) {
    const { go } = button.dataset;
    // Not `disabled`, which would take the focus away from under a finger on the key.
    const ends = go === "match" || (go === "forward" && open.finding.repeats !== undefined) ? false : last;
    const dead = ["first", "back", "unswitch"].includes(go) ? first : ends;
    button.setAttribute("aria-disabled", String(dead));
  }
}

function showSource(position) {
  const step = stepAt(open.finding, position);
  open.line?.classList.remove("now", "whole");
  open.line = sourceLine(step[3]);
  open.mark?.remove();
  for (const old of open.here ?? []) delete old.dataset.here;
  open.here = [];
  const { threads } = page.files[open.finding.file];
  const state = stateAt(open.finding, position);
  for (const thread of open.lanes) {
    const at = thread === step[0] ? step[3] : state[thread].line;
    const line = sourceLine(at);
    if (!line) continue;
    line.dataset.here = line.dataset.here ? `${line.dataset.here}, ${threads[thread].name}` : threads[thread].name;
    open.here.push(line);
  }
  const span = open.finding.spans[position - 1];
  showStrip(step[3], span);
  if (open.line) {
    open.line.classList.add("now");
    open.mark = highlight(open.line, span);
    open.line.classList.toggle("whole", !open.mark);
    reveal(open.line, open.mark);
  }
}

/** Puts a box behind the characters of a line that are the expression, if they are known. */
function highlight(line, span) {
  if (!span) return undefined;
  const range = textRange(line.querySelector("code"), span[0] - 1, span[1] - 1);
  if (!range) return undefined;
  const [box, outer] = [range.getBoundingClientRect(), line.getBoundingClientRect()];
  const mark = make("i", "expression");
  mark.style.left = `${box.left - outer.left}px`;
  mark.style.width = `${box.width}px`;
  line.prepend(mark);
  return mark;
}

/** The range of some characters, as a person counts them, of an element. */
function textRange(element, from, to) {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let at = 0;
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let unit = 0;
    for (const letter of node.data) {
      if (at === from) {
        range.setStart(node, unit);
        begun = true;
      }
      at += 1;
      unit += letter.length;
      if (at === to && begun) {
        range.setEnd(node, unit);
        return range;
      }
    }
  }
  return undefined;
}

/** The line of the step in one row, with its expression, for a screen without room for the source. */
function showStrip(number, span) {
  const strip = document.getElementById("line");
  strip.replaceChildren();
  if (!open.line) return;
  const letters = [...open.line.querySelector("code").textContent];
  const [from, to] = span ? [span[0] - 1, span[1] - 1] : [0, 0];
  strip.append(`${number}  `, letters.slice(0, from).join("").trimStart(), make("mark", "", letters.slice(from, to).join("")), letters.slice(to).join(""));
  const mark = strip.querySelector("mark");
  strip.scrollLeft = Math.max(0, mark.offsetLeft - strip.offsetLeft - 40);
}

/** Scrolls a line of the source into its pane, and what is marked in it, and nothing else. */
function reveal(line, mark) {
  const pane = line.closest(".scroll");
  const [box, inner] = [pane.getBoundingClientRect(), line.getBoundingClientRect()];
  const margin = box.height / 5;
  if (inner.top < box.top + margin || inner.bottom > box.bottom - margin) {
    pane.scrollTop += inner.top - box.top - box.height / 2 + inner.height / 2;
  }
  if (!mark) return;
  const { left, right } = mark.getBoundingClientRect();
  if (left < box.left + 64) pane.scrollLeft = 0;
  if (right > box.right - 12) pane.scrollLeft += right - box.right + 24;
}

function showState(position) {
  const { finding } = open;
  const file = page.files[finding.file];
  const state = stateAt(finding, position);
  const current = stepAt(finding, position);
  const cards = open.lanes.map((thread) => {
    const own = state[thread];
    const role = thread !== current[0] ? "" : isNext(finding, position) ? " chosen" : " running";
    const card = make("div", `thread${role}`);
    card.append(make("h3", "", file.threads[thread].name), " ");
    const held = make("p", own.held.length ? "locks" : "locks quiet");
    held.append(own.held.length ? "holds " : "holds nothing");
    own.held.forEach((lock) => held.append(make("b", lockClass(lock), file.locks[lock]), " "));
    if (own.unit) held.append(make("span", "in-unit", "in a unit"));
    card.append(calls(file, thread, own.calls), held);
    if (isNext(finding, position)) {
      for (const step of finding.next.filter((one) => one[0] === thread)) {
        const waits = make("p", "waits", step[5] ?? (step[1] === ACQUIRE ? "waits for " : `about to ${WOULD[step[1]]} `));
        const name = step[5] ? "" : objectName(finding, step);
        if (name) waits.append(make("b", step[1] === ACQUIRE ? lockClass(step[2]) : "", name));
        card.append(waits);
      }
    }
    return card;
  });
  if (finding.first) cards.unshift(shared(finding, position, current));
  document.getElementById("threads").replaceChildren(...cards);
  revealCard(cards.find((card) => card.matches(".running, .chosen")));
  open.heads.forEach((head, lane) => head.classList.toggle("running", open.lanes[lane] === current[0]));
}

/** Scrolls a card into the panel of the state, and nothing else. */
function revealCard(card) {
  const pane = document.getElementById("state");
  if (!card || pane.scrollHeight <= pane.clientHeight) return;
  const [box, inner] = [pane.getBoundingClientRect(), card.getBoundingClientRect()];
  if (inner.top < box.top) pane.scrollTop += inner.top - box.top - 8;
  else if (inner.bottom > box.bottom) pane.scrollTop += inner.bottom - box.bottom + 8;
}

/** The globals with their values, those that the step changed stand out. */
function shared(finding, position, current) {
  const changed = new Set((isNext(finding, position) ? [] : current[6] ?? []).map(([name]) => name));
  const card = make("div", "thread shared");
  const list = make("p", "values");
  for (const [name, value] of valuesAt(finding, position)) {
    list.append(make("span", changed.has(name) ? "changed" : "", `${name}=${value}`), " ");
  }
  card.append(make("h3", "", "Shared"), " ", list);
  return card;
}

/** The open calls of a thread, the outermost first; of very many only the ends. */
function calls(file, thread, open) {
  const names = [file.threads[thread].main, ...open.map((procedure) => file.procedures[procedure])];
  const shown = names.length > 9 ? [...names.slice(0, 3), `… ${names.length - 7} more …`, ...names.slice(-4)] : names;
  const list = make("ol", "calls");
  list.setAttribute("aria-label", "Call stack");
  for (const name of shown) list.append(make("li", "", name), " ");
  return list;
}

const moves = {
  first: () => show(0),
  last: () => show(open.stops.length - 1),
  back: () => show(open.stop - 1),
  forward: () => {
    // What repeats for ever begins again.
    if (open.stop === open.stops.length - 1 && open.finding.repeats !== undefined) goTo(open.finding.repeats + 1);
    else show(open.stop + 1);
  },
  switch: () => show(nextStop(1, isSwitch) ?? open.stops.length - 1),
  unswitch: () => show(nextStop(-1, isSwitch) ?? 0),
  // After the last one it begins again.
  match: () => show(nextStop(1, isMatch) ?? Math.max(open.stops.findIndex((_, stop) => isMatch(stop)), 0)),
};

function nextStop(direction, wanted) {
  for (let stop = open.stop + direction; stop >= 0 && stop < open.stops.length; stop += direction) {
    if (wanted(stop)) return stop;
  }
  return undefined;
}

function isSwitch(stop) {
  const thread = (at) => stepAt(open.finding, open.stops[at].position)[0];
  return stop > 0 && thread(stop) !== thread(stop - 1);
}

function isMatch(stop) {
  const { position, item } = open.stops[stop];
  return item.classList.contains("matched") || isNext(open.finding, position);
}

/** From a line of the source to the next step there, from the current one round to it again. */
function goToLine(line) {
  const matches = (one) => stepAt(open.finding, one.position)[3] === line;
  const later = open.stops.findIndex((one, stop) => stop > open.stop && matches(one));
  const stop = later >= 0 ? later : open.stops.findIndex(matches);
  if (stop >= 0) {
    show(stop);
    return;
  }
  const folded = open.finding.steps.findIndex((step) => step[3] === line) + 1;
  if (folded) {
    uncover(folded);
    goTo(folded);
  }
}

function toggleSilent() {
  const events = root.classList.toggle("events");
  document.getElementById("silent").setAttribute("aria-pressed", String(!events));
  if (open) {
    refresh();
    show(open.stop);
  }
}
