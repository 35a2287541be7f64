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

function openOverview() {
  closeFinding();
  root.dataset.view = "overview";
  if (entries.length) markEntry(-1);
  document.getElementById("to-overview").setAttribute("aria-current", "page");
}

function visit(index, position) {
  openFinding(index, position);
  markEntry(index);
  document.getElementById("to-overview").removeAttribute("aria-current");
}

/** Opens what the address says. */
function readAddress() {
  const hash = location.hash.slice(1);
  const asked = new URLSearchParams(hash);
  const plain = /^f(\d+)(?:-(\d+))?$/.exec(hash);
  const index = plain ? Number(plain[1]) : page.findings.findIndex((finding) => finding.id === asked.get("finding"));
  if (page.findings[index]) {
    visit(index, Number(plain ? plain[2] : asked.get("step")) || 0);
  } else if (page.findings.length && hash !== "overview") {
    visit(0, 0);
  } else {
    openOverview();
  }
}

function go(index) {
  if (index === undefined) return;
  visit(index, 0);
  writeAddress("pushState");
  live.textContent = open.article.querySelector("h2").textContent;
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
  if (entry) {
    go(Number(entry.parentElement.dataset.f));
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
document.getElementById("print").addEventListener("click", () => print());
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
