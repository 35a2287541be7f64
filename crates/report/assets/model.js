"use strict";
// What the page knows of the findings, and the state of the program at each step. A step is
// [thread, kind, object, line, matched, statement?, values?, fails?]; see data.rs for the numbers of
// the kinds.

const page = JSON.parse(document.getElementById("data").textContent);

/** What is kept packed: a word per chunk, and what has been unpacked of it. */
const packed = document.getElementById("later")?.textContent.split(" ") ?? [];
const unpacking = new Map();

/** The chunk with this number, or a promise of it. */
function chunk(number) {
  if (!unpacking.has(number)) unpacking.set(number, unpack(packed[number]));
  return unpacking.get(number);
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(plain).text());
}

/** Whether a finding and its source are part of the page by now. */
function isThere(finding) {
  return finding.steps !== undefined && document.getElementById(`s${finding.file}`) !== null;
}

/** Brings a finding and its source into the page. The markup was written with that of the page. */
async function bring(index) {
  const finding = page.findings[index];
  if (isThere(finding)) return;
  const { later } = page.files[finding.file];
  if (finding.steps === undefined) {
    const { article, ...rest } = (await chunk(finding.later)).findings[index];
    if (finding.steps === undefined) {
      document.getElementById(`f${index}`)?.removeAttribute("id");
      const articles = [...document.querySelectorAll("#view > article")];
      const next = articles.find((one) => Number(one.id.slice(1)) > index);
      (next ?? document.querySelector("#view > .no-js")).before(parsed(article));
      Object.assign(finding, rest);
    }
  }
  if (!document.getElementById(`s${finding.file}`)) {
    const { sources } = await chunk(later);
    if (!document.getElementById(`s${finding.file}`)) document.getElementById("state").before(parsed(sources[finding.file]));
  }
}

function parsed(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  return template.content;
}

const STEP = 0, BEGIN = 1, END = 2, ACQUIRE = 3, RELEASE = 4, READ = 5, WRITE = 6, CALL = 7, RETURN = 8, START = 9, JOIN = 10, WAIT = 11, RESUME = 12, NOTIFY = 13, SEND = 14, POST = 15, BROADCAST = 16;
const DOES = ["steps", "begins a unit of work", "ends its unit of work", "acquires", "releases", "reads", "writes", "calls", "returns from", "starts", "joins", "gives up", "takes back", "notifies about", "sends over", "posts over", "broadcasts over"];
const WOULD = ["step", "begin a unit of work", "end its unit of work", "acquire", "release", "read", "write", "call", "return from", "start", "join", "give up", "take back", "notify about", "send over", "post over", "broadcast over"];

/** A state is kept for each so many steps; the ones between are computed from the nearest one. */
const KEPT = 256;

/** The step at a position: first the executed ones from 1, then the next ones. */
function stepAt(finding, position) {
  const executed = finding.steps.length;
  return position <= executed ? finding.steps[position - 1] : finding.next[position - executed - 1];
}

function isNext(finding, position) {
  return position > finding.steps.length;
}

/** The name of the lock, condition, location, procedure, thread or channel of a step, or the empty string. */
function objectName(finding, step) {
  const file = page.files[finding.file];
  switch (step[1]) {
    case ACQUIRE: case RELEASE: return file.locks[step[2]];
    case WAIT: case RESUME: case NOTIFY: return file.conditions[step[2]][0];
    case READ: case WRITE: return file.locations[step[2]];
    case CALL: case RETURN: return file.procedures[step[2]];
    case START: case JOIN: return file.threads[step[2]].name;
    case SEND: case POST: case BROADCAST: return file.channels[step[2]];
    default: return "";
  }
}

/** The sentence that is announced: "step 5 of 17: T1 acquires stack, line 12". */
function sentence(finding, position) {
  const step = stepAt(finding, position);
  const thread = page.files[finding.file].threads[step[0]].name;
  const next = isNext(finding, position);
  const verb = next ? `is about to ${WOULD[step[1]]}` : DOES[step[1]];
  const object = objectName(finding, step);
  const start = next ? "next" : `step ${position} of ${finding.steps.length}`;
  const owner = next && step[1] === ACQUIRE ? ownerAtEnd(finding, step[2]) : undefined;
  const does = step[5] ? `: ${step[5]}` : ` ${verb}${object && " " + object}`;
  const parts = [`${start}: ${thread}${does}`];
  if (step[6]?.length) parts.push(`now ${step[6].map(([name, value]) => `${name}=${value}`).join(" ")}`);
  const receiving = receiversAt(finding, position).map(([, receiver]) => page.files[finding.file].threads[receiver].name);
  if (receiving.length) parts.push(`received by ${receiving.join(", ")}`);
  if (step[7]) parts.push("which fails");
  if (owner !== undefined) parts.push(`which ${page.files[finding.file].threads[owner].name} holds`);
  if (step[4]) parts.push(`access ${step[4]} of the pattern`);
  if (step[3]) parts.push(`line ${step[3]}`);
  return parts.join(", ");
}

/** Who receives in the step at a position: [position, thread, line] each. */
function receiversAt(finding, position) {
  finding.received ??= (finding.with ?? []).reduce((all, one) => all.set(one[0], [...(all.get(one[0]) ?? []), one]), new Map());
  return finding.received.get(position) ?? [];
}

/** The values of the globals after a position: a map from names, in the order of the first ones. */
function valuesAt(finding, position) {
  const values = new Map(finding.first);
  for (const step of finding.steps.slice(0, position)) for (const [name, value] of step[6] ?? []) values.set(name, value);
  return values;
}

/** The thread that holds a lock after the last executed step. */
function ownerAtEnd(finding, lock) {
  const owner = stateAt(finding, finding.steps.length).findIndex((thread) => thread.held.includes(lock));
  return owner < 0 ? undefined : owner;
}

/** For each thread its calls, its locks, whether it is in a unit, and its last line, after a position. */
function stateAt(finding, position) {
  const wanted = Math.min(position, finding.steps.length);
  finding.kept ??= [page.files[finding.file].threads.map(() => ({ calls: [], held: [], unit: false, line: 0 }))];
  const { kept } = finding;
  let state, at;
  while (true) {
    const nearest = Math.min(Math.floor(wanted / KEPT), kept.length - 1);
    state = kept[nearest].map((thread) => ({ ...thread, calls: [...thread.calls], held: [...thread.held] }));
    at = nearest * KEPT;
    const end = Math.min(wanted, at + KEPT);
    for (; at < end; at++) {
      execute(state, finding.steps[at], page.files[finding.file]);
      for (const [, thread, line] of receiversAt(finding, at + 1)) state[thread].line = line;
    }
    if (at === wanted) return state;
    kept.push(state);
  }
}

function execute(state, [thread, kind, object, line], file) {
  const own = state[thread];
  own.line = line;
  switch (kind) {
    case BEGIN: own.unit = true; break;
    case END: own.unit = false; break;
    case ACQUIRE: own.held.push(object); break;
    case RELEASE: own.held = own.held.filter((lock) => lock !== object); break;
    case WAIT: own.held = own.held.filter((lock) => lock !== file.conditions[object][1]); break;
    case RESUME: own.held.push(file.conditions[object][1]); break;
    case CALL: own.calls.push(object); break;
    case RETURN: own.calls.pop(); break;
  }
}

/** The threads of a finding in the order of its lanes: its own, then others that move. */
function lanesOf(finding) {
  const moving = [...finding.steps, ...finding.next].flatMap((step, at) => [step[0], ...receiversAt(finding, at + 1).map(([, thread]) => thread)]);
  return [...new Set([...finding.lanes, ...moving])];
}

/** The classes of a lock; the same rule as in words.rs. */
function lockClass(lock) {
  return `lock c${lock % 8} p${(lock + Math.floor(lock / 8)) % 5}`;
}

/** An element with a class and, as text, what it says. */
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}
