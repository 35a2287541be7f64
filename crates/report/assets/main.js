// Keys, pointers, the address, and the looks.

const help = document.getElementById("help");
let letters = true;
let pending;

/** Writes the place into the address, a little later: browsers refuse to be told at each step. */
function rememberPlace(moved) {
  clearTimeout(pending);
  if (moved) pending = setTimeout(() => writeAddress("replaceState"), 200);
}

function writeAddress(how) {
  clearTimeout(pending);
  history[how](null, "", open ? address(open.index, open.position) : "#overview");
}

/** The finding that is on its way into the page, if one is. */
let wanted;

function openOverview() {
  wanted = undefined;
  closeFinding();
  root.dataset.view = "overview";
  if (entries.length) markEntry(-1);
  document.getElementById("to-overview").setAttribute("aria-current", "page");
}

/** Opens a finding, at once if it is part of the page, or when it has been brought there. */
function visit(index, position, then) {
  const finish = () => {
    wanted = undefined;
    openFinding(index, position);
    document.getElementById("to-overview").removeAttribute("aria-current");
    then?.();
  };
  markEntry(index);
  if (isThere(page.findings[index])) {
    finish();
    return;
  }
  wanted = index;
  bring(index).then(() => {
    if (wanted === index) finish();
  }, () => {
    if (wanted === index) wanted = undefined;
    live.textContent = "This browser cannot unpack the finding; the JSON report has it.";
    live.classList.remove("sr");
  });
}

/** Opens what the address says. */
function readAddress() {
  const hash = location.hash.slice(1);
  const asked = new URLSearchParams(hash);
  const plain = /^f(\d+)(?:-(\d+))?$/.exec(hash);
  const index = plain ? Number(plain[1]) : page.findings.findIndex((finding) => finding.id === asked.get("finding"));
  if (page.findings[index]) {
    visit(index, Number(plain ? plain[2] : asked.get("step")) || 0);
  } else if (hash.startsWith("rule-") && document.getElementById(hash)) {
    openRule(hash);
  } else if (page.findings.length && hash !== "overview") {
    visit(0, 0);
  } else {
    openOverview();
  }
}

function go(index) {
  if (index === undefined) return;
  visit(index, 0, () => {
    writeAddress("pushState");
    live.textContent = open.article.querySelector("h2").textContent;
  });
}

/** What a rule means, in the overview. */
function openRule(id) {
  openOverview();
  const rule = document.getElementById(id);
  rule.scrollIntoView({ block: "center" });
  rule.focus();
}

/** Prints what is open, or everything, for which everything has to be there. */
async function printPage() {
  if (!open) for (let index = 0; index < page.findings.length; index++) await bring(index);
  print();
}

function toggleTheme() {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  live.textContent = `${root.dataset.theme} theme`;
  try {
    localStorage.setItem("selvedge-theme", root.dataset.theme);
  } catch {
    // Then the choice holds until the page is closed.
  }
}

const shortcuts = {
  ArrowRight: moves.forward, j: moves.forward,
  ArrowLeft: moves.back, k: moves.back,
  Home: moves.first, End: moves.last,
  n: moves.switch, p: moves.unswitch, m: moves.match,
  "]": () => go(neighbour(1)), "[": () => go(neighbour(-1)),
  s: toggleSilent, t: toggleTheme, o: () => document.getElementById("to-overview").click(),
  "/": () => document.getElementById("filter")?.focus(),
  "?": () => help.showModal(),
};
const needsFinding = new Set(["ArrowRight", "ArrowLeft", "Home", "End", "j", "k", "n", "p", "m", "s"]);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
  const { target, key } = event;
  if (target.matches("input[type=search]")) {
    if (key === "Escape") target.blur();
    return;
  }
  if (target.matches("select") || (target.matches("input[type=range]") && key.length > 1)) return;
  if (key.length === 1 && !letters) return;
  const action = shortcuts[key];
  if (!action || (needsFinding.has(key) && !open)) return;
  event.preventDefault();
  action();
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const { target } = event;
  const entry = target.closest(".entry");
  const move = target.closest("[data-go]");
  const item = target.closest(".row");
  const line = target.closest(".code > li");
  const reference = target.closest("a.line");
  const lies = target.closest("a.lies");
  const ofFile = target.closest("a.of-file");
  const rule = target.closest("a.rule-link");
  const fold = target.closest(".fold");
  const shape = target.closest("a.to-shape");
  if (entry) {
    go(Number(entry.parentElement.dataset.f));
  } else if (lies) {
    go(Number(lies.hash.slice(2)));
  } else if (ofFile) {
    filterFile(ofFile.dataset.file, ofFile.dataset.ofKind);
    go(Number(ofFile.hash.slice(2)));
  } else if (rule) {
    openRule(rule.hash.slice(1));
    history.pushState(null, "", rule.hash);
  } else if (shape) {
    document.getElementById(shape.hash.slice(1)).scrollIntoView({ block: "nearest" });
  } else if (fold && open) {
    toggleFold(fold.dataset.open);
  } else if (move && open) {
    moves[move.dataset.go]();
  } else if (item && open) {
    goTo(Number(item.dataset.p));
  } else if (line && open && getSelection().isCollapsed) {
    goToLine(Number(line.dataset.n));
  } else if (reference && open) {
    const shown = document.getElementById(reference.hash.slice(1));
    if (shown) {
      side.scrollIntoView({ block: "nearest" });
      reveal(shown);
      shown.classList.remove("flash");
      void shown.offsetWidth;
      shown.classList.add("flash");
    }
  } else if (target.closest("#to-overview")) {
    openOverview();
    writeAddress("pushState");
    document.getElementById("overview-title").focus();
  } else {
    return;
  }
  event.preventDefault();
});

scrub?.addEventListener("input", () => show(Number(scrub.value)));
document.getElementById("silent")?.addEventListener("click", toggleSilent);
document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("print").addEventListener("click", printPage);
document.getElementById("help-button").addEventListener("click", () => help.showModal());
document.getElementById("letters").addEventListener("change", (event) => { letters = event.target.checked; });
document.getElementById("copy")?.addEventListener("click", async () => {
  writeAddress("replaceState");
  try {
    await navigator.clipboard.writeText(location.href);
    live.textContent = "link copied";
  } catch {
    live.textContent = "the link is in the address bar";
  }
});
addEventListener("hashchange", readAddress);
readAddress();
