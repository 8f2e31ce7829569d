"use strict";
// The page of ffmount serve. The address determines its content: #/folder/ is a folder, #/folder/file.pdf is a file over it,
// and #/folder/?q=words is a search result. Paths stay percent-encoded, so that names that are not UTF-8 work. Content of
// files becomes text and never markup: innerHTML is not used here.

// MARK: Elements

const $ = (id) => document.getElementById(id);

/** Creates an element: make("a.button", {href: "#/"}, "Text", child…). Members that are functions become listeners. */
function make(what, members = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function icon(name, kind = "") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", "#i-" + name);
  svg.setAttribute("aria-hidden", "true");
  if (kind) svg.setAttribute("class", kind);
  svg.append(use);
  return svg;
}

function tool(symbol, label, key, action) {
  return make("button.icon", {
    type: "button", "aria-label": label, title: key ? `${label} (${key})` : label, click: action,
  }, icon(symbol));
}

const plural = (count, one, many = one + "s") => `${count.toLocaleString()} ${count === 1 ? one : many}`;

/** Shows a message for a moment, with a button that does something. */
function toast(text, label = "", action = null) {
  const end = () => $("toast").replaceChildren();
  $("toast").replaceChildren(text, ...(action ? [make("button", { type: "button", click: () => { end(); action(); } }, label)] : []));
  clearTimeout(toast.timer);
  toast.timer = setTimeout(end, action ? 9000 : 2600);
}

// MARK: Settings

/** The user's settings, stored in the browser if it permits that. */
const settings = {
  values: { theme: "auto", layout: "list", sort: "name", views: "hidden", wrap: "off" },
  load() {
    try {
      for (const name of Object.keys(this.values)) this.values[name] = localStorage.getItem("ffmount." + name) || this.values[name];
    } catch { /* Kept for this page only. */ }
  },
  get(name) { return this.values[name]; },
  set(name, value) {
    this.values[name] = value;
    try { localStorage.setItem("ffmount." + name, value); } catch { /* Kept for this page only. */ }
  },
};
settings.load();

function applyTheme() {
  const theme = settings.get("theme");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
applyTheme();

// MARK: Paths

const encode = (name) => encodeURIComponent(name);

/** Returns a path for display. Each byte that is not UTF-8 becomes a replacement character. */
function decode(path) {
  try { return decodeURIComponent(path); } catch {
    const bytes = [];
    for (let place = 0; place < path.length; place++) {
      if (path[place] === "%") {
        bytes.push(parseInt(path.slice(place + 1, place + 3), 16));
        place += 2;
      } else bytes.push(path.charCodeAt(place));
    }
    return new TextDecoder().decode(new Uint8Array(bytes));
  }
}

const join = (folder, name) => (folder === "/" ? "" : folder) + "/" + name;
const parentOf = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
const lastOf = (path) => decode(path.slice(path.lastIndexOf("/") + 1));
const call = (what, path, more = "") => `api/${what}?path=${path.replaceAll("+", "%2B")}${more}`;
const fileURL = (path) => call("file", path);
/** The address of a file that names other files next to it. */
const davURL = (path) => "dav" + path;
const saveURL = (path, isFolder) => isFolder ? call("zip", path) : call("file", path, "&download=1");
const folderHash = (path) => "#" + (path === "/" ? "/" : path + "/");
const fileHash = (path) => "#" + path;

// MARK: Requests

class Failure extends Error {
  constructor(title, detail, status) {
    super(detail || title);
    this.title = title;
    this.detail = detail;
    this.status = status;
  }
}

async function answerOf(url, signal, options = {}) {
  let answer;
  try { answer = await fetch(url, { signal, ...options }); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server cannot be reached", "It may have stopped, or this device is no longer in its network.", 0);
  }
  if (answer.ok) return answer;
  let problem = {};
  try { problem = await answer.json(); } catch { /* The response has no reason. */ }
  const titles = {
    401: "Locked", 403: "Not allowed", 404: "Not found", 422: "This cannot be shown", 429: "Too many attempts",
    409: "The name exists", 412: "The name exists", 423: "Locked by another program", 503: "Not now", 504: "It took too long",
    507: "The disk is full",
  };
  throw new Failure(titles[answer.status] || problem.title || "That did not work", problem.detail || "", answer.status);
}

const ask = async (what, path, signal, more) => (await answerOf(call(what, path, more), signal)).json();
const textOf = async (path, signal) => (await answerOf(fileURL(path), signal)).text();

// MARK: Kinds of entries

const families = {
  image: "png jpg jpeg jpe jfif gif webp avif svg bmp ico apng heic heif tif tiff jxl jp2 j2k psd arw cr2 cr3 dng nef orf raf rw2 "
    + "pef srw tga pcx ppm pgm pbm pnm pam hdr exr qoi icns dds fits fts fit xbm xwd sgi ras pfm",
  pdf: "pdf",
  film: "mp4 m4v webm ogv mov mkv avi wmv flv mpg mpeg ts m2ts mts 3gp 3g2 vob divx asf mxf f4v rm swf amv qt mk3d",
  sound: "mp3 m4a aac ogg oga opus flac wav wave wma aiff aif au caf w64 wv ac3 mp2 dts spx gsm amr awb mka voc ircam bwf",
  mail: "eml msg emlx",
  table: "csv tsv tab xlsx xlsm ods xls xlt xltx ots",
  document: "docx docm dotx odt ott rtf epub pptx pptm ppsx odp otp doc dot ppt pps pot",
  page: "html htm xhtml",
  markdown: "md markdown mdown mkd",
  archive: "zip zipx jar tar tgz tbz2 txz tzst gz bz2 xz zst lz4 lz lzma br 7z rar iso cab deb rpm cpio lha lzh xar warc cbz cbr",
  mailbox: "mbox mbx",
  text: "txt text log srt vtt ini conf cfg toml properties ics vcf diff patch tex bib rst org nfo hocr",
  code: "json jsonl ndjson geojson yaml yml xml css scss sass less js mjs cjs jsx ts tsx sh bash zsh fish ps1 bat cmd py pyi rb php "
    + "pl pm lua r go rs java kt kts scala sbt groovy gradle clj lisp el scm c h cc cpp cxx hpp hh cs fs swift m mm zig nim d dart "
    + "hs ml mli erl ex exs jl pas f f90 f95 adb ads s asm sql graphql proto cmake mk nix tf hcl vhd v sv glsl vue svelte plist",
};
const familyOf = {};
for (const [family, endings] of Object.entries(families)) {
  for (const ending of endings.split(" ")) familyOf[ending] ??= family;
}

/** Returns the extension in lower case, without the dot. For photo.heic.as-jpeg: jpeg. */
function endingOf(name) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase().replace(/^as-/, "") : "";
}

const kindNames = {
  folder: "Folder", image: "Image", pdf: "PDF", film: "Film", sound: "Sound", mail: "Message", table: "Table", document: "Document",
  page: "Web page", markdown: "Markdown", archive: "Archive", mailbox: "Mailbox", text: "Text", code: "Code", file: "File",
};
const icons = {
  folder: "folder", image: "image", pdf: "pdf", film: "film", sound: "sound", mail: "mail", table: "table", document: "text",
  page: "code", markdown: "text", archive: "archive", mailbox: "mail", text: "text", code: "code", file: "file",
};
const kindLabel = (item) => {
  const ending = item.type === "file" ? endingOf(item.name) : "";
  const name = kindNames[item.kind];
  return !ending || ending.length > 6 || item.kind === "pdf" ? name : `${ending.toUpperCase()} ${name.toLowerCase()}`;
};

const shownByBrowsers = new Set("png jpg jpeg jpe jfif gif webp avif svg bmp ico apng".split(" "));
const messageName = /^\d{6} (?:\d{4}-\d\d-\d\d )?(.+?) - (.+)$/s;

/** Converts an entry of a listing to the form that the page uses. */
function entry(item, folder) {
  const path = item.encodedPath ? "/" + item.encodedPath.replace(/^\/+/, "") : join(folder, encode(item.name));
  return describe({ name: item.name, type: item.type, size: item.size, estimate: item.estimate, modified: item.modified,
    time: item.modified ? Date.parse(item.modified) : 0, view: item.view, path });
}

function describe(item) {
  item.kind = item.type === "directory" ? "folder" : familyOf[endingOf(item.name)] || "file";
  if (item.type === "directory") {
    const message = messageName.exec(item.name);
    if (message && /\.(messages|views)\//.test(item.path + "/")) {
      item.kind = "mail";
      [item.title, item.from] = [message[2], message[1]];
    }
  }
  return item;
}

/** Converts a result of a search. */
function found(hit) {
  const item = describe({ name: hit.name, type: hit.type, size: hit.type === "file" ? hit.size : null, modified: hit.date,
    time: hit.date ? Date.parse(hit.date) : 0, path: hit.encodedPath || hit.path.split("/").map(encode).join("/") });
  if (hit.kind === "mail") item.kind = "mail";
  return Object.assign(item, { title: hit.title || item.title || hit.name, from: hit.sender, snippet: hit.snippet, marks: hit.marks || [] });
}

/** Returns a text with parts of it marked. The marks are ranges of UTF-8 bytes, in ascending order. */
function marked(text, marks) {
  const bytes = new TextEncoder().encode(text);
  const part = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
  const parts = [];
  let place = 0;
  for (const [from, to] of marks) {
    if (from < place || to > bytes.length) continue;
    parts.push(part(place, from), make("mark", {}, part(from, to)));
    place = to;
  }
  return [...parts, part(place)];
}

function sizeText(item) {
  const amount = item.size ?? item.estimate;
  if (amount === null || amount === undefined) return "";
  return (item.size === null || item.size === undefined ? "≤ " : "") + bytesText(amount);
}

function bytesText(bytes) {
  if (bytes < 1000) return plural(bytes, "byte");
  const units = ["kB", "MB", "GB", "TB", "PB"];
  let unit = -1;
  do { bytes /= 1000; unit++; } while (bytes >= 999.5 && unit < units.length - 1);
  return `${bytes.toLocaleString(undefined, { maximumFractionDigits: bytes < 10 ? 1 : 0 })} ${units[unit]}`;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "medium" });
const dayText = (item) => item.time ? dayFormat.format(item.time) : "";

// MARK: Thumbnails

/** Fetches pictures, the latest request first, few at a time. Requests that are no longer needed are cancelled. */
const thumbnails = {
  atMost: 4, kept: 600, made: new Map(), failed: new Set(), waiting: [], running: new Map(), wanted: new Map(),
  want(image, url) {
    const known = this.made.get(url);
    if (known) return this.show(image, known);
    if (this.failed.has(url)) return;
    this.wanted.set(image, url);
    this.waiting.push(image);
    this.next();
  },
  drop(image) {
    const url = this.wanted.get(image);
    if (!url) return;
    this.wanted.delete(image);
    if (![...this.wanted.values()].includes(url)) this.running.get(url)?.abort();
  },
  next() {
    while (this.running.size < this.atMost && this.waiting.length) {
      const image = this.waiting.pop();
      const url = this.wanted.get(image);
      if (!url || this.running.has(url)) continue;
      this.fetch(url);
    }
  },
  async fetch(url) {
    const control = new AbortController();
    this.running.set(url, control);
    try {
      const blob = URL.createObjectURL(await (await answerOf(url, control.signal)).blob());
      this.made.set(url, blob);
      if (this.made.size > this.kept) {
        const [oldest, shown] = this.made.entries().next().value;
        this.made.delete(oldest);
        URL.revokeObjectURL(shown);
      }
      for (const [image, other] of this.wanted) {
        if (other === url) { this.wanted.delete(image); this.show(image, blob); }
      }
    } catch (error) {
      // A temporary failure is retried when the entry becomes visible again.
      if (error.name !== "AbortError" && [403, 404, 422].includes(error.status)) this.failed.add(url);
      else if (error.name !== "AbortError") for (const [image, other] of this.wanted) if (other === url) this.wanted.delete(image);
    }
    this.running.delete(url);
    // Requested again after the cancellation.
    for (const [image, other] of this.wanted) {
      if (other !== url) continue;
      if (this.failed.has(url)) this.wanted.delete(image);
      else if (!this.waiting.includes(image)) this.waiting.push(image);
    }
    this.next();
  },
  show(image, blob) {
    image.onload = () => image.classList.add("ready");
    image.src = blob;
  },
};

const thumbnailPixels = devicePixelRatio > 1.3 ? 512 : 256;

/** Returns the URL of an entry's thumbnail, or null if it has none. */
function thumbnailURL(item) {
  if (item.type !== "file") return null;
  if (item.kind === "image" && endingOf(item.name) === "svg") return fileURL(item.path);
  if (item.kind === "image" || item.kind === "pdf") return fileURL(`${item.path}.${thumbnailPixels}px.as-webp`);
  if (item.kind === "film") return fileURL(`${item.path}.${thumbnailPixels}px.as-jpeg`);
  return null;
}

// MARK: The list

const scroller = $("scroller");
const list = $("list");

/** The entries of a folder or a search. Only visible ones have elements. */
const listing = {
  path: null, hash: "", absolute: "", all: [], shown: [], containers: new Map(), current: 0, isSearch: false, search: null,
  rows: new Map(), columns: 1, height: 44, width: 0, places: new Map(),

  get isGrid() { return settings.get("layout") === "grid"; },

  set(items, keeping = null) {
    this.all = items;
    this.containers.clear();
    for (const item of items) {
      if (item.view && item.type === "directory" && item.name.endsWith("." + item.view)) {
        const base = item.name.slice(0, -item.view.length - 1);
        if (item.view === "contents" || item.view === "messages") this.containers.set(base, item.path);
      }
    }
    this.arrange(keeping);
  },

  /** Filters and sorts the entries, and shows the result. */
  arrange(keeping = null) {
    const words = this.isSearch ? [] : $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const showsViews = this.isSearch || settings.get("views") === "shown" || words.some((word) => word.includes(".as"));
    const shown = this.all.filter((item) => {
      if (item.view && !showsViews) return false;
      const name = words.length ? item.name.toLowerCase() : "";
      return words.every((word) => name.includes(word));
    });
    // The server's order is by relevance.
    if (!(this.isSearch && /^-?name$/.test(settings.get("sort")))) shown.sort(order(settings.get("sort"), shown.length));
    this.shown = shown;
    this.clear();
    const kept = keeping ? shown.findIndex((item) => item.path === keeping) : -1;
    this.current = Math.max(0, kept);
    this.measure();
    this.draw();
    if (kept >= 0) this.reveal(kept);
    this.report(words);
  },

  report(words) {
    const count = this.shown.length;
    const folders = this.shown.reduce((sum, item) => sum + (item.type === "directory" && item.kind === "folder"), 0);
    const size = this.shown.reduce((sum, item) => sum + (item.size || 0), 0);
    const parts = [];
    if (this.isSearch) parts.push(...this.search.report(count));
    else if (words.length) parts.push(`${count.toLocaleString()} of ${this.all.length.toLocaleString()} match`);
    else {
      if (folders) parts.push(plural(folders, "folder"));
      if (count - folders || !folders) parts.push(plural(count - folders, this.shown.some((item) => item.from) ? "message" : "file"));
    }
    if (size && !this.isSearch) parts.push(bytesText(size));
    $("status").textContent = this.all.length || this.isSearch ? parts.join(" · ") : "";
    const state = $("state");
    if (count) return hideState();
    if (this.isSearch) return this.search.explain();
    if (words.length) {
      return showState("search", "No name here matches", "Press Enter to search names and contents, also in the folders below.", "Search below", search);
    }
    const views = this.all.length;
    state.replaceChildren();
    if (listing.rights?.join() === "drop") {
      return showState("up", "Put files here", "Only others see what this folder contains.", "Upload files", () => pick(false));
    }
    showState("folder", "This folder is empty", views ? `${plural(views, "view")} hidden; the options show them.` : "");
  },

  clear() {
    for (const row of this.rows.values()) this.discard(row);
    this.rows.clear();
  },

  discard(row) {
    for (const image of row.querySelectorAll("img")) thumbnails.drop(image);
    row.remove();
  },

  measure() {
    this.width = scroller.clientWidth;
    const isSmall = matchMedia("(max-width: 640px)").matches;
    if (this.isGrid) {
      const usable = this.width - (isSmall ? 16 : 32);
      this.columns = Math.max(2, Math.floor(usable / (isSmall ? 160 : 176)));
      this.tile = usable / this.columns;
      this.height = Math.round(Math.min(this.tile, 210)) + 46;
    } else {
      this.columns = 1;
      this.height = this.isSearch ? (isSmall ? 116 : 88) : isSmall ? 60 : 40;
    }
    list.className = this.isGrid ? "grid" : this.isSearch ? "rows found" : "rows";
    $("main").dataset.layout = this.isGrid ? "grid" : "list";
    list.style.height = Math.ceil(this.shown.length / this.columns) * this.height + "px";
  },

  draw() {
    const first = Math.max(0, Math.floor(scroller.scrollTop / this.height) - 6) * this.columns;
    const last = Math.min(this.shown.length, (Math.ceil((scroller.scrollTop + scroller.clientHeight) / this.height) + 6) * this.columns);
    for (const [place, row] of this.rows) {
      if ((place < first || place >= last) && place !== this.current) {
        this.discard(row);
        this.rows.delete(place);
      }
    }
    const wanted = [];
    for (let place = first; place < last; place++) if (!this.rows.has(place)) wanted.push(place);
    // The entry that Tab focuses exists even if it is not visible.
    if (this.shown.length && !this.rows.has(this.current) && (this.current < first || this.current >= last)) wanted.push(this.current);
    for (const place of wanted) this.rows.set(place, this.row(place));
    if (this.isSearch && last >= this.shown.length) this.search.more();
    // In reading order.
    if (wanted.length) {
      const places = [...this.rows.keys()].sort((one, other) => one - other);
      let before = null;
      for (const place of places) {
        const row = this.rows.get(place);
        const next = before ? before.nextSibling : list.firstChild;
        if (row !== next) list.insertBefore(row, next);
        before = row;
      }
    }
  },

  row(place) {
    const item = this.shown[place];
    const isCurrent = place === this.current;
    const name = make("span.name", { dir: "auto" }, item.title || item.name);
    const words = make("span.words", {}, name, item.from ? make("span.sub", { dir: "auto" }, item.from) : null);
    if (this.isSearch) {
      words.append(make("span.sub.place", { dir: "auto" }, decode(parentOf(item.path))));
      if (item.snippet && !this.isGrid) words.append(make("span.snippet", { dir: "auto" }, ...marked(item.snippet, item.marks)));
    }
    const picture = make("span.picture." + item.kind, {}, icon(icons[item.kind], "glyph"));
    const url = this.isGrid || this.isSearch || item.kind === "image" ? thumbnailURL(item) : null;
    if (url) {
      const image = make("img", { alt: "", decoding: "async", draggable: "false" });
      picture.append(image);
      thumbnails.want(image, url);
    }
    const isContainer = item.type === "directory" || this.containers.has(item.name);
    if (isContainer && item.kind !== "folder" && item.kind !== "mail") picture.classList.add("container");
    const link = make("a.entry", { href: hashFor(item), tabindex: isCurrent ? "0" : "-1" }, picture, words,
      make("span.fact.modified", {}, dayText(item)), make("span.fact.size", {}, sizeText(item)),
      make("span.fact.kind", {}, kindLabel(item)));
    const more = make("button.icon.more", {
      type: "button", tabindex: isCurrent ? "0" : "-1", "aria-label": `About ${item.title || item.name}`, title: "About (i)",
      click: () => { this.focus(place, false); showAbout(item); },
    }, icon("more"));
    const row = make("div.row", { role: "listitem", "aria-setsize": this.shown.length, "aria-posinset": place + 1 }, link, more);
    row.dataset.place = place;
    if (item.view) row.classList.add("view");
    writing.mark(row, item);
    const line = Math.floor(place / this.columns);
    row.style.height = this.height + "px";
    if (this.isGrid) {
      row.style.width = this.tile + "px";
      row.style.transform = `translate(${place % this.columns * this.tile}px, ${line * this.height}px)`;
    } else row.style.transform = `translateY(${line * this.height}px)`;
    return row;
  },

  /** Scrolls so that an entry is visible. */
  reveal(place) {
    const top = Math.floor(place / this.columns) * this.height;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + this.height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + this.height - scroller.clientHeight;
  },

  focus(place, takes = true) {
    if (!this.shown.length) return;
    place = Math.max(0, Math.min(this.shown.length - 1, place));
    const before = this.rows.get(this.current);
    before?.querySelectorAll("a, button").forEach((part) => part.setAttribute("tabindex", "-1"));
    this.current = place;
    this.reveal(place);
    this.draw();
    const row = this.rows.get(place);
    row.querySelectorAll("a, button").forEach((part) => part.setAttribute("tabindex", "0"));
    if (takes) row.firstChild.focus({ preventScroll: true });
  },

  get currentItem() { return this.shown[this.current]; },
  get rowsInSight() { return Math.max(1, Math.floor(scroller.clientHeight / this.height) - 1); },
};

function order(by, count) {
  const sign = by.startsWith("-") ? -1 : 1;
  const member = by.replace("-", "");
  // The collator supports languages and numbers, but would block the page for very many names.
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const byName = count > 20000
    ? (one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)
    : (one, other) => collator.compare(one.name, other.name) || (one.name < other.name ? -1 : 1);
  const compare = {
    modified: (one, other) => one.time - other.time,
    size: (one, other) => (one.size ?? one.estimate ?? -1) - (other.size ?? other.estimate ?? -1),
    kind: (one, other) => collator.compare(kindLabel(one), kindLabel(other)),
  }[member];
  const isFolder = (item) => item.type === "directory" && item.kind !== "mail";
  if (!compare) return (one, other) => isFolder(other) - isFolder(one) || sign * byName(one, other);
  return (one, other) => isFolder(other) - isFolder(one) || sign * compare(one, other) || byName(one, other);
}

/** Returns the address that a click on an entry opens. Archives and mailboxes open as folders. */
function hashFor(item) {
  if (item.kind === "mail") return fileHash(item.path);
  if (item.type === "directory") return folderHash(item.path);
  const inside = !listing.isSearch && listing.containers.get(item.name);
  if (inside) return folderHash(inside);
  if (item.kind === "archive") return folderHash(item.path + ".contents");
  if (item.kind === "mailbox") return folderHash(item.path + ".messages");
  return fileHash(item.path);
}

let drawn = 0;
scroller.addEventListener("scroll", () => {
  if (!drawn) drawn = requestAnimationFrame(() => { drawn = 0; listing.draw(); });
}, { passive: true });
new ResizeObserver(() => {
  if (scroller.clientWidth === listing.width) return listing.draw();
  const item = listing.currentItem;
  listing.clear();
  listing.measure();
  listing.draw();
  if (item && listing.current) listing.reveal(listing.current);
}).observe(scroller);

// MARK: Results of a search

/** A search in a folder. Gets its results in parts, and again until everything has been searched. */
class Search {
  constructor(path, words, signal) {
    Object.assign(this, { path: path.replace(/\.(messages|views)$/, ""), words, signal, pause: 2000, isAsking: false });
  }

  async ask(from, limit) {
    this.isAsking = true;
    try {
      const answer = await ask("search", this.path, this.signal, `&from=${from}&limit=${limit}&q=${encode(this.words)}`);
      Object.assign(this, {
        next: answer.next, count: answer.count, percent: answer.percent, similarWord: answer.similarWord,
        locked: answer.lockedFiles ?? 0, unread: answer.unreadDocuments ?? 0,
      });
      return answer.results.map(found);
    } catch (error) {
      if (error.status === 422) throw new Failure("This search is not understood", error.detail, 422);
      throw error;
    } finally { this.isAsking = false; }
  }

  /** Returns the first results. */
  first() { return this.ask(0, 100); }

  get isShown() { return listing.search === this && !this.signal.aborted; }

  /** Appends the next results, when the last ones become visible. */
  async more() {
    if (this.next === undefined || this.isAsking || listing.all.length >= 10000) return;
    try {
      const items = await this.ask(this.next, 100);
      if (!this.isShown) return;
      const known = new Set(listing.all.map((item) => item.path));
      this.show([...listing.all, ...items.filter((item) => !known.has(item.path))]);
    } catch { this.next = undefined; }
  }

  /** Asks again from time to time while the server indexes its files. */
  follow() {
    if (this.percent >= 100) return;
    setTimeout(async () => {
      if (!this.isShown) return;
      try {
        if (!document.hidden && !this.isAsking && listing.all.length <= 1000) {
          const items = await this.ask(0, Math.max(100, listing.all.length));
          if (this.isShown) this.show(items);
        }
        this.follow();
      } catch { /* The results stay as they are. */ }
    }, this.pause);
    this.pause = Math.min(10000, this.pause * 1.3);
  }

  /** Shows results in place of the present ones. */
  show(items) {
    const isSame = items.length === listing.all.length && items.every((item, place) => item.path === listing.all[place].path);
    if (isSame) return listing.report([]);
    const hadFocus = list.contains(document.activeElement);
    const top = scroller.scrollTop;
    listing.set(items, listing.currentItem?.path);
    scroller.scrollTop = top;
    listing.draw();
    if (hadFocus) listing.focus(listing.current);
    showViewerNeighbours();
  }

  report(count) {
    const all = this.next === undefined ? count : this.count;
    const parts = [all === undefined ? `${count.toLocaleString()} results and more` : plural(all, "result")];
    if (this.percent < 100) parts.push(`${this.percent} % of the files searched so far`);
    return [...parts, ...this.gaps()];
  }

  /** Returns what may be missing. */
  gaps() {
    const parts = [];
    if (this.unread) parts.push(`${plural(this.unread, "more")} may match and cannot be read`.replace("mores", "more"));
    if (this.locked) parts.push(`${plural(this.locked, "file")} locked: found by name only`);
    return parts;
  }

  /** Shows why there are no results. */
  explain() {
    if (this.percent < 100) {
      return showState("search", "Nothing found yet", `${this.percent} % of the files have been searched. Results appear here.`);
    }
    const similar = this.similarWord;
    const detail = ["No file, page or message below this folder matches", ...this.gaps()].join(". ") + ".";
    if (!similar) return showState("search", "Nothing found", detail);
    // The server replaces a word by one with the same first letter.
    const wrong = this.words.split(/[\s"()]+/).find((word) => word.length > 3 && word[0].toLowerCase() === similar[0].toLowerCase());
    showState("search", "Nothing found", detail, `Search for ${similar}`, () => {
      $("filter").value = wrong ? this.words.replace(wrong, similar) : similar;
      search();
    });
  }
}

// MARK: States

function showState(symbol, title, detail = "", label = "", action = null) {
  $("state").hidden = false;
  $("state").replaceChildren(...statement(symbol, title, detail, label, action));
}

function hideState() {
  $("state").hidden = true;
  $("state").replaceChildren();
}

function statement(symbol, title, detail, label, action) {
  const parts = [icon(symbol), make("h2", {}, title)];
  if (detail) parts.push(make("p", {}, detail));
  if (action) parts.push(make("button.button", { type: "button", click: action }, label));
  return parts;
}

const failed = (error, again) => statement("warn", error.title || "That did not work", error.detail ?? String(error), "Try again", again);

// MARK: Navigation

let loading = null;
let closing = null;

function route(event) {
  const hash = location.hash.slice(1) || "/";
  const [place, query] = hash.split("?");
  const words = query && new URLSearchParams(query).get("q");
  if (place.endsWith("/") || !place.startsWith("/")) {
    closeViewer();
    openFolder(place.replace(/\/+$/, "") || "/", words || "", "#" + hash);
  } else {
    // Back returns to the list only if the user came from it.
    if (!viewer.isOpen) viewer.cameFromList = Boolean(event && listing.hash) && (new URL(event.oldURL).hash || "#/") === listing.hash;
    openFile(place);
  }
}

/** Shows changes of the visible folder as the server reports them. */
const live = {
  source: null, path: null, isDue: false, isBusy: false,
  /** Follows the folder that is shown now, if the page is visible: browsers have few connections for each server. */
  follow() {
    const path = document.hidden || listing.isSearch ? null : listing.path;
    if (path === this.path && this.source?.readyState !== 2) return;
    this.source?.close();
    [this.path, this.source] = [path, null];
    if (path === null || !window.EventSource) return;
    this.source = new EventSource(call("events", path));
    // Changes before the connection, or while it was lost, are not reported.
    for (const name of ["open", "change"]) this.source.addEventListener(name, () => this.update());
  },
  /** Asks for the folder again, not more often than the answer takes. */
  async update() {
    this.isDue = true;
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.isDue) {
      this.isDue = false;
      const began = performance.now();
      await refresh().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, Math.min(5000, 2 * (performance.now() - began))));
    }
    this.isBusy = false;
  },
};
document.addEventListener("visibilitychange", () => live.follow());

/** Shows a folder, or the result of a search in it. Does not reload the list behind the viewer. */
async function openFolder(path, words, hash) {
  const isOnTheWay = loading && !loading.signal.aborted && $("main").getAttribute("aria-busy") === "true";
  if (listing.hash === hash && listing.path !== null) {
    document.title = titleOf(path);
    if (!isOnTheWay) return;
    // The user went back before the requested list arrived.
    loading.abort();
    $("main").setAttribute("aria-busy", "false");
    $("filter").value = words;
    showCrumbs(path);
    return listing.arrange(listing.currentItem?.path);
  }
  loading?.abort();
  const control = loading = new AbortController();
  const before = listing.path;
  if (listing.hash) listing.places.set(listing.hash, { top: scroller.scrollTop, path: listing.currentItem?.path });
  showCrumbs(path);
  $("filter").value = words;
  document.title = titleOf(path);
  const main = $("main");
  main.setAttribute("aria-busy", "true");
  // A list that arrives at once is shown without flicker.
  const waiting = setTimeout(() => {
    listing.path = null;
    listing.clear();
    list.style.height = "0";
    $("status").textContent = words ? "Searching…" : "Loading…";
    $("state").hidden = false;
    $("state").replaceChildren(make("div.skeleton", { "aria-hidden": "true" }, ...Array.from({ length: 8 }, () => make("i"))));
  }, 180);
  const slow = setTimeout(() => {
    $("state").append(make("p", {}, words ? "Still searching…" : "This takes a while: the contents are being read."),
      make("button.button", { type: "button", click: () => { control.abort(); history.back(); } }, "Cancel"));
  }, 6000);
  try {
    let items;
    let isCut = false;
    let absolute = "";
    let rights = [];
    const search = words ? new Search(path, words, control.signal) : null;
    if (search) items = await search.first();
    else {
      // The beginning of a large folder is shown at once, if nothing depends on the rest.
      const isStart = !listing.places.has(hash) && settings.get("sort") === "name";
      const answer = await ask("list", path, control.signal, isStart ? "&limit=500" : "");
      isCut = answer.count > answer.items.length;
      items = answer.items.map((item) => entry(item, path));
      absolute = answer.absolutePath;
      rights = answer.rights;
    }
    if (control.signal.aborted) return;
    clearTimeout(waiting);
    Object.assign(listing, { path, hash, absolute, rights, isSearch: Boolean(words), search });
    writing.showRights();
    showSort();
    if (path === "/" && absolute) {
      listing.rootName = writing.session?.root || absolute.split("/").pop() || "/";
      showCrumbs(path);
    }
    scroller.scrollTop = 0;
    const kept = listing.places.get(hash);
    // When moving up, the folder that was left becomes the current entry.
    const from = before && before !== path && before.startsWith(path === "/" ? "/" : path + "/") ? before : null;
    listing.set(items);
    const child = from && join(path, from.slice(path === "/" ? 1 : path.length + 1).split("/")[0]);
    const wanted = kept?.path || child;
    const place = wanted ? listing.shown.findIndex((item) => item.path === wanted
      || listing.containers.get(item.name) === wanted) : -1;
    if (kept) scroller.scrollTop = kept.top;
    if (place >= 0) listing.current = place;
    listing.clear();
    listing.draw();
    if (place >= 0) listing.reveal(place);
    if (!viewer.isOpen && !document.activeElement?.closest("#finder") && !document.querySelector("dialog[open]")) {
      listing.focus(listing.current);
    }
    showViewerNeighbours();
    search?.follow();
    if (isCut) await refresh();
    live.follow();
  } catch (error) {
    if (error.name === "AbortError") return;
    clearTimeout(waiting);
    Object.assign(listing, { path, hash: "", isSearch: false, search: null });
    listing.set([]);
    $("status").textContent = "";
    $("state").hidden = false;
    $("state").replaceChildren(...failed(error, () => openFolder(path, words, hash)));
  } finally {
    clearTimeout(waiting);
    clearTimeout(slow);
    if (loading === control) main.setAttribute("aria-busy", "false");
  }
}

const titleOf = (path) => (path === "/" ? "ffmount" : `${lastOf(path)} – ffmount`);

function showCrumbs(path) {
  const names = path === "/" ? [] : path.slice(1).split("/");
  const crumbs = [];
  for (let count = 0; count <= names.length; count++) {
    const own = "/" + names.slice(0, count).join("/");
    const isLast = count === names.length;
    const label = count ? decode(names[count - 1]) : "";
    crumbs.push(make("li", {}, make("a", {
      href: folderHash(own), "aria-current": isLast ? "page" : undefined, "aria-label": count || isLast ? undefined : "Start", dir: "auto",
      title: label || "Start",
    }, count ? label : icon("home"), count || !isLast ? null : make("span", {}, listing.rootName || "Start"))));
  }
  $("crumbs").replaceChildren(...crumbs);
  $("crumbs").scrollLeft = 1e6;
  $("title").textContent = names.length ? decode(names.at(-1)) : "Files";
  $("up").disabled = !names.length;
}

/** Whether a search is shown or in progress, and the address of the searched folder. */
const isSearching = () => location.hash.includes("?q=");
const searched = () => location.hash.split("?")[0];

function goUp() {
  const path = listing.path ?? "/";
  if (isSearching()) location.hash = searched();
  else if (path !== "/") location.hash = folderHash(parentOf(path));
}

// MARK: Sorting, filtering and searching

const columns = [["name", "Name"], ["modified", "Modified"], ["size", "Size"], ["kind", "Kind"]];

function showSort() {
  const sort = settings.get("sort");
  $("sorter").value = sort === "-kind" ? "kind" : sort;
  const [first] = $("columns").children;
  first.firstChild.textContent = $("sorter").options[0].textContent = listing.isSearch ? "Relevance" : "Name";
  $("sorter").options[1].hidden = listing.isSearch;
  for (const button of $("columns").children) {
    const isThis = sort.replace("-", "") === button.dataset.by;
    button.setAttribute("aria-pressed", String(isThis));
    button.classList.toggle("backwards", isThis && sort.startsWith("-"));
  }
}

function sortBy(sort) {
  settings.set("sort", sort);
  showSort();
  listing.arrange(listing.currentItem?.path);
}

$("columns").append(...columns.map(([by, label]) => {
  const button = make("button", {
    type: "button", click: () => {
      const first = by === "name" || by === "kind" ? by : "-" + by;
      const other = first.startsWith("-") ? by : "-" + by;
      sortBy(settings.get("sort") === first ? other : first);
    },
  }, label, icon("sort"));
  button.dataset.by = by;
  return button;
}));
$("sorter").addEventListener("change", () => sortBy($("sorter").value));

function showLayout() {
  const isGrid = settings.get("layout") === "grid";
  $("layout").setAttribute("aria-pressed", String(isGrid));
  $("layout").replaceChildren(icon(isGrid ? "list" : "grid"));
}

function switchLayout() {
  settings.set("layout", settings.get("layout") === "grid" ? "list" : "grid");
  showLayout();
  const hadFocus = list.contains(document.activeElement);
  listing.clear();
  scroller.scrollTop = 0;
  listing.measure();
  if (hadFocus) listing.focus(listing.current);
  else { listing.reveal(listing.current); listing.draw(); }
}

let filtering = 0;
$("filter").addEventListener("input", () => {
  clearTimeout(filtering);
  if (isSearching()) {
    if (!$("filter").value) location.hash = searched();
    return;
  }
  filtering = setTimeout(() => {
    scroller.scrollTop = 0;
    listing.arrange();
  }, listing.all.length > 5000 ? 120 : 0);
});

function search() {
  const words = $("filter").value.trim();
  if (words) location.hash = (isSearching() ? searched() : folderHash(listing.path ?? "/")) + "?q=" + encode(words);
}
$("finder").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});

function clearFilter() {
  $("filter").value = "";
  if (isSearching()) location.hash = searched();
  if (!listing.isSearch) listing.arrange(listing.currentItem?.path);
  listing.focus(listing.current);
}

// MARK: Keys

const keys = [
  ["↑ ↓ ← →", "Move between entries"], ["Enter", "Open"], ["Backspace", "Up one folder"], ["/", "Filter; Enter searches everything below"],
  ["i", "About: path, conversions, download"], ["o", "Open as…"], ["v", "List or grid"], ["d", "Download"], ["x", "Select"], ["F2", "Rename"], ["Delete", "Delete"],
  [".", "Show or hide views"], ["Home End", "First, last"], ["← →", "Previous, next, in a viewer"],
  ["+ − 0", "Zoom an image"], ["Escape", "Close, or clear the filter"], ["?", "These keys"],
];

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  if (document.querySelector("dialog[open]:not(.viewer)")) return;
  if (viewer.isOpen) return viewer.key(event);
  if (target.id === "filter") {
    if (event.key === "Escape") { event.preventDefault(); clearFilter(); }
    else if (event.key === "ArrowDown" && listing.shown.length) { event.preventDefault(); listing.focus(listing.current); }
    return;
  }
  if (target.closest("select, textarea, input")) return;
  const isInList = list.contains(target) || target === document.body || target === scroller;
  const wide = listing.columns;
  const moves = {
    ArrowDown: wide, ArrowUp: -wide, ArrowRight: listing.isGrid ? 1 : 0, ArrowLeft: listing.isGrid ? -1 : 0,
    PageDown: listing.rowsInSight * wide, PageUp: -listing.rowsInSight * wide, Home: -Infinity, End: Infinity,
  };
  if (isInList && moves[event.key]) {
    event.preventDefault();
    const isFirst = !list.contains(document.activeElement);
    return listing.focus(isFirst && Math.abs(moves[event.key]) <= wide ? listing.current : listing.current + moves[event.key]);
  }
  const item = listing.currentItem;
  const actions = {
    Backspace: goUp, "/": () => { $("filter").focus(); $("filter").select(); }, "?": showOptions, v: switchLayout,
    i: () => item && showAbout(item), o: () => item && showAbout(item, true), ".": switchViews,
    d: () => item && save(item), x: () => item && !item.view && toggle(item),
    Delete: () => item && !item.view && writing.isAllowed && !listing.isSearch && remove(writing.selected.size ? [...writing.selected.values()] : [item]),
    F2: () => item && !item.view && writing.isAllowed && !listing.isSearch && rename(item),
    Escape: () => (writing.hasSelection ? endSelection() : $("filter").value && clearFilter()),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function switchViews() {
  settings.set("views", settings.get("views") === "shown" ? "hidden" : "shown");
  listing.arrange(listing.currentItem?.path);
  toast(settings.get("views") === "shown" ? "Views are shown" : "Views are hidden");
}

function save(item) {
  const link = make("a", { href: saveURL(item.path, item.type === "directory"), download: "" });
  document.body.append(link);
  link.click();
  link.remove();
}

// MARK: Dialogs

/** Shows a dialog that is removed when it is closed. The focus returns to the previous element. */
function dialog(kind, label, ...parts) {
  const box = make("dialog." + kind, { "aria-label": label }, ...parts);
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

const head = (title, box) => make("header.head", {}, make("h2", { dir: "auto" }, title), tool("close", "Close", "Escape", box));

function showOptions() {
  const close = () => box.close();
  const theme = make("fieldset.choices", {}, make("legend", {}, "Appearance"),
    ...[["auto", "As the system"], ["light", "Light"], ["dark", "Dark"]].map(([value, label]) => make("label", {}, make("input", {
      type: "radio", name: "theme", value, checked: settings.get("theme") === value,
      change: () => { settings.set("theme", value); applyTheme(); },
    }), make("span", {}, label))));
  const views = make("label.check", {}, make("input", {
    type: "checkbox", checked: settings.get("views") === "shown", change: () => { switchViews(); },
  }), make("span", {}, "Show views", make("small", {}, "Listed conversions such as report.pdf.pages, beside their files")));
  const dav = new URL("dav/", document.baseURI).href;
  const box = dialog("sheet", "Options", head("Options", close), make("div.body", {}, theme, views,
    ...writing.account(),
    make("h3", {}, "As a network drive"), make("p.path", {}, make("code", {}, dav),
      tool("copy", "Copy the WebDAV address", "", () => copy(dav))),
    make("h3", {}, "Keys"), make("dl.keys", {}, ...keys.flatMap(([key, text]) => [
      make("dt", {}, ...key.split(" ").map((one) => make("kbd", {}, one))), make("dd", {}, text)]))));
}

async function copy(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    // Over plain HTTP from another machine, only the old method is available.
    const field = make("textarea", { "aria-hidden": "true", class: "offscreen" });
    field.value = text;
    (document.querySelector("dialog[open]:last-of-type") || document.body).append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  toast("Copied");
}

async function share(item) {
  const title = item.title || item.name;
  const url = new URL(hashFor(item), document.baseURI).href;
  try {
    if (item.type === "file" && item.size !== null && item.size < 3e7 && navigator.canShare) {
      const blob = await (await answerOf(fileURL(item.path))).blob();
      const files = [new File([blob], item.name, { type: blob.type })];
      if (navigator.canShare({ files })) return await navigator.share({ files, title });
    }
    await navigator.share({ title, url });
  } catch (error) {
    if (error.name === "AbortError") return;
    copy(url);
  }
}

/** Shows the properties, actions and views of an entry. */
function showAbout(item, startsWithViews = false) {
  const control = new AbortController();
  const close = () => box.close();
  const isFolder = item.type === "directory";
  const facts = make("dl.facts");
  const views = make("section.views", { "aria-label": "Open as" });
  const buttons = make("div.buttons", {},
    make("a.button.main", { href: hashFor(item), click: close }, "Open"),
    make("a.button", { href: saveURL(item.path, isFolder), download: "" }, icon("download"), isFolder ? "Download ZIP" : "Download"),
    writing.session?.canShare || navigator.share ? make("button.button", {
      type: "button", click: () => { if (writing.session?.canShare) { close(); writing.share(item); } else share(item); },
    }, icon("share"), "Share") : null,
    make("button.button", { type: "button", click: () => copy(new URL(hashFor(item), document.baseURI).href) }, icon("link"), "Copy link"),
    ...writing.actions(item, close));
  const picture = make("span.picture." + item.kind, {}, icon(icons[item.kind], "glyph"));
  const url = thumbnailURL(item);
  if (url) {
    const image = make("img", { alt: "" });
    picture.append(image);
    thumbnails.want(image, url);
  }
  const box = dialog("sheet", "About " + (item.title || item.name), head(item.title || item.name, close),
    make("div.body", {}, picture, buttons, facts, views));
  box.addEventListener("close", () => control.abort());
  fillFacts(facts, item, control.signal);
  fillViews(views, item, control.signal, close, startsWithViews);
}

async function fillFacts(facts, item, signal) {
  const row = (label, ...value) => facts.append(make("dt", {}, label), make("dd", {}, ...value));
  const show = (stat) => {
    facts.replaceChildren();
    row("Kind", kindLabel(item));
    if (sizeText(stat)) row("Size", stat.size ? `${sizeText(stat)} (${plural(stat.size, "byte")})` : sizeText(stat));
    if (stat.modified) row("Modified", timeFormat.format(Date.parse(stat.modified)));
    if (stat.view) row("View", stat.view);
    if (stat.error) row("Error", stat.error);
    if (stat.absolutePath) {
      row("Path", make("span.path", {}, make("code", { dir: "auto" }, stat.absolutePath),
        tool("copy", "Copy the path", "", () => copy(stat.absolutePath))));
    }
  };
  show(item);
  try { show(await ask("stat", item.path, signal)); } catch (error) {
    if (error.name !== "AbortError") row("Error", error.detail || error.title);
  }
}

async function fillViews(section, item, signal, close, takesFocus) {
  section.replaceChildren(make("h3", {}, "Open as…"), make("p.quietly", {}, "Looking…"));
  try {
    const answer = await ask("views", item.path, signal);
    const groups = new Map();
    for (const view of answer.views) {
      const own = describe({ name: view.name, type: view.type, path: besides(item, view.name), size: null });
      const family = view.type === "directory" ? "As a folder" : {
        image: "Images", pdf: "Documents", document: "Documents", page: "Documents", markdown: "Documents", mail: "Documents",
        sound: "Sound", film: "Films", table: "Text and tables", text: "Text and tables", code: "Text and tables",
      }[own.kind] || "Other formats";
      if (!groups.has(family)) groups.set(family, []);
      const ending = /\.as-([^.]+)$/.exec(view.name);
      groups.get(family).push(make("a.chip", {
        href: view.type === "directory" ? folderHash(own.path) : fileHash(own.path), click: close, title: view.name,
      }, ending ? ending[1].toUpperCase() : capital(view.view)));
    }
    const parts = [...groups].map(([family, chips]) => make("div.group", {}, make("h4", {}, family), make("div.chips", {}, ...chips)));
    section.replaceChildren(make("h3", {}, "Open as…"), ...(parts.length ? parts : [make("p.quietly", {}, "There are no conversions.")]));
    if (takesFocus) section.querySelector("a")?.focus();
  } catch (error) {
    if (error.name === "AbortError") return;
    section.replaceChildren(make("h3", {}, "Open as…"), make("p.quietly", {}, error.detail || error.title),
      make("button.button", { type: "button", click: () => fillViews(section, item, signal, close, takesFocus) }, "Try again"));
  }
}

/** Returns the path of a view. A name that is not UTF-8 is preserved. */
function besides(item, name) {
  return name.startsWith(item.name) ? item.path + encode(name.slice(item.name.length)) : join(parentOf(item.path), encode(name));
}

const capital = (text) => text ? text[0].toUpperCase() + text.slice(1) : "View";

// MARK: The viewer

async function openFile(path) {
  const name = lastOf(path);
  let item = listing.shown.find((one) => one.path === path);
  // The path comes from a link or a conversion, so that its kind has to be requested.
  if (!item) {
    item = describe({ name, type: "file", size: null, path });
    if (listing.path === null && !loading) openFolder(parentOf(path), "", folderHash(parentOf(path)));
    if (viewer.isOpen) viewer.show(item, true);
    try {
      const stat = await ask("stat", path);
      if (location.hash.slice(1) !== path) return;
      item = describe({ ...stat, path, time: Date.parse(stat.modified) });
      if (item.type === "directory" && item.kind !== "mail") {
        const inner = await ask("list", path);
        if (!inner.items.some((one) => one.name === "headers.txt")) return location.replace(folderHash(path));
        item.kind = "mail";
      }
    } catch (error) {
      if (location.hash.slice(1) === path) viewer.fail(item, error, () => openFile(path));
      return;
    }
  }
  viewer.show(item);
}

function closeViewer() {
  if (viewer.isOpen) viewer.box.close();
}

/** Leaves the viewer for the list behind it. */
function leaveViewer() {
  const behind = listing.hash || folderHash(listing.path ?? "/");
  if (viewer.cameFromList) history.back();
  else location.replace(behind);
}

/** The viewer, which shows a file over the whole page. */
const viewer = {
  box: null, item: null, control: null, cameFromList: false, handlers: {},
  get isOpen() { return Boolean(this.box); },

  /** Opens the dialog with an empty stage. */
  open(item) {
    this.control?.abort();
    this.control = new AbortController();
    this.handlers = {};
    this.item = item;
    if (!this.box) {
      this.stage = make("div.stage", { tabindex: "0", role: "region", "aria-label": "Content" });
      this.title = make("h2", { dir: "auto", id: "viewed" });
      this.tools = make("div.own", { role: "group", "aria-label": "View" });
      this.previous = tool("back", "Previous", "←", () => this.step(-1));
      this.following = tool("next", "Next", "→", () => this.step(1));
      this.box = make("dialog.viewer", { "aria-labelledby": "viewed", tabindex: "-1" }, make("header.head", {},
        tool("close", "Close", "Escape", leaveViewer), this.title, this.tools,
        make("div.steps", {}, this.previous, this.following),
        tool("info", "About this file", "i", () => showAbout(this.item)),
        make("a.icon.save", { "aria-label": "Download", title: "Download (d)", download: "" }, icon("download"))), this.stage);
      this.box.addEventListener("cancel", (event) => { event.preventDefault(); leaveViewer(); });
      this.box.addEventListener("close", () => this.closed());
      document.body.append(this.box);
      this.box.showModal();
      this.box.focus({ preventScroll: true });
    }
    const name = item.title || item.name;
    document.title = `${name} – ffmount`;
    this.title.textContent = name;
    this.box.dataset.kind = item.kind;
    this.box.querySelector(".save").setAttribute("href", saveURL(item.kind === "mail" && item.type === "directory"
      ? join(item.path, "message.eml") : item.path, false));
    this.tools.replaceChildren();
    this.empty();
    showViewerNeighbours();
    return this.control.signal;
  },

  empty() {
    // Films and sounds would continue to load if they were only removed.
    for (const media of this.stage.querySelectorAll("video, audio")) {
      media.pause();
      media.removeAttribute("src");
      media.load();
    }
    for (const image of this.stage.querySelectorAll("img")) image.removeAttribute("src");
    this.stage.replaceChildren();
    this.stage.scrollTop = 0;
    this.stage.className = "stage";
  },

  closed() {
    const item = this.item;
    this.control?.abort();
    this.empty();
    this.box.remove();
    this.box = this.item = this.control = null;
    const place = item ? listing.shown.findIndex((one) => one.path === item.path) : -1;
    if (listing.shown.length && listing.path !== null) listing.focus(place >= 0 ? place : listing.current);
    // Browsers can close a dialog themselves, by a gesture or by Escape.
    if (item && location.hash === fileHash(item.path)) leaveViewer();
  },

  /** Shows a file, or only the progress of its request. */
  async show(item, isOnlyOpening = false) {
    const signal = this.open(item);
    const wait = this.waiting(signal);
    if (isOnlyOpening) return;
    try {
      await (viewers[item.kind] || viewers.other)(item, this.stage, signal);
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) this.explain(item, error, () => this.show(item));
    } finally {
      wait.end();
    }
  },

  fail(item, error, again) {
    this.open(item);
    this.explain(item, error, again);
  },

  explain(item, error, again) {
    this.empty();
    this.stage.append(make("div.state", {}, ...failed(error, again)));
  },

  /** Shows a sign of progress if the work takes a while. */
  waiting(signal) {
    const sign = make("div.waiting", { role: "status" });
    const soon = setTimeout(() => { sign.append(make("span.spinner")); this.stage.append(sign); }, 250);
    const later = setTimeout(() => sign.append(make("p", {}, "Still converting…")), 5000);
    const end = () => { clearTimeout(soon); clearTimeout(later); sign.remove(); };
    signal.addEventListener("abort", end);
    return { end };
  },

  key(event) {
    const handler = this.handlers[event.key];
    if (event.target.closest("video, audio, input, select") && event.key !== "Escape") return;
    if (handler && handler(event) !== false) return event.preventDefault();
    const actions = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), i: () => showAbout(this.item), o: () => showAbout(this.item, true),
      d: () => this.box.querySelector(".save").click(), Backspace: leaveViewer, Escape: leaveViewer, "?": showOptions,
    };
    if (!actions[event.key]) return this.scroll(event);
    event.preventDefault();
    if (event.key.startsWith("Arrow") && this.stage.scrollWidth > this.stage.clientWidth + 1) {
      return this.stage.scrollBy({ left: event.key === "ArrowLeft" ? -60 : 60 });
    }
    actions[event.key]();
  },

  /** Scrolls by keys, unless the focus is on a control. */
  scroll(event) {
    if (event.target.closest("button, a, summary")) return;
    const page = this.stage.clientHeight * 0.9;
    const steps = { ArrowDown: 60, ArrowUp: -60, PageDown: page, " ": event.shiftKey ? -page : page, PageUp: -page, Home: -1e9, End: 1e9 };
    if (!steps[event.key]) return;
    event.preventDefault();
    this.stage.scrollBy({ top: steps[event.key] });
  },

  /** The entries for previous and next: all images for an image, all messages for a message, otherwise all files. */
  get row() {
    const kind = this.item?.kind;
    return listing.shown.filter((one) => kind === "image" || kind === "mail" ? one.kind === kind
      : one.type === "file" && !listing.containers.has(one.name) && one.kind !== "archive" && one.kind !== "mailbox");
  },

  neighbour(step) {
    const row = this.row;
    const place = row.findIndex((one) => one.path === this.item?.path);
    return place < 0 ? undefined : row[place + step];
  },

  step(step) {
    const next = this.neighbour(step);
    if (next) location.replace(fileHash(next.path));
  },
};

function showViewerNeighbours() {
  if (!viewer.isOpen) return;
  viewer.previous.disabled = !viewer.neighbour(-1);
  viewer.following.disabled = !viewer.neighbour(1);
}

/** Creates buttons of which one is selected, initially the first. */
function tabs(names, choose) {
  const buttons = names.map((name, place) => make("button.tab", {
    type: "button", "aria-pressed": String(place === 0), click: () => {
      buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === place)));
      choose(place);
    },
  }, name));
  return make("div.tabs", { role: "group" }, ...buttons);
}

/** Shows one of several alternatives on a stage. Each is fetched when it is selected. */
async function alternatives(item, stage, signal, choices) {
  let current = null;
  const choose = async (place) => {
    current?.abort();
    const control = current = new AbortController();
    signal.addEventListener("abort", () => control.abort());
    viewer.empty();
    const wait = viewer.waiting(control.signal);
    try { await choices[place][1](stage, control.signal); } catch (error) {
      if (error.name !== "AbortError" && !control.signal.aborted) viewer.explain(item, error, () => choose(place));
    } finally { wait.end(); }
  };
  if (choices.length > 1) viewer.tools.append(tabs(choices.map(([name]) => name), choose));
  await choose(0);
}

const viewers = {
  async image(item, stage, signal) {
    const isKnown = shownByBrowsers.has(endingOf(item.name));
    const converted = `${item.path}.2560px.as-webp`;
    try { await showImage(item, stage, signal, fileURL(isKnown ? item.path : converted)); } catch (error) {
      // The extension may be wrong.
      if (!isKnown || signal.aborted) throw error;
      await showImage(item, stage, signal, fileURL(converted));
    }
    for (const near of [viewer.neighbour(1), viewer.neighbour(-1)]) {
      if (near && shownByBrowsers.has(endingOf(near.name)) && near.size < 8e6) new Image().src = fileURL(near.path);
    }
  },

  pdf: (item, stage, signal) => alternatives(item, stage, signal, [
    ["Pages", (stage, signal) => showPages(item, item.path, stage, signal)],
    ["Text", (stage, signal) => showProse(item.path + ".as-html", stage, signal)],
  ]),

  document(item, stage, signal) {
    const text = ["Text", (stage, signal) => showProse(item.path + ".as-html", stage, signal)];
    const pages = ["Pages", (stage, signal) => showPages(item, item.path + ".as-pdf", stage, signal)];
    const isOld = /^(doc|dot|ppt|pps|pot)$/.test(endingOf(item.name));
    const isShow = /^(ppt|odp|otp|pps)/.test(endingOf(item.name));
    const isBook = endingOf(item.name) === "epub";
    return alternatives(item, stage, signal, isOld ? [pages] : isBook ? [text] : isShow ? [pages, text] : [text, pages]);
  },

  markdown: (item, stage, signal) => alternatives(item, stage, signal, [
    ["Formatted", (stage, signal) => showProse(item.path + ".as-html", stage, signal)],
    ["Source", (stage, signal) => showText(item, stage, signal)],
  ]),

  page: (item, stage, signal) => alternatives(item, stage, signal, [
    ["Page", async (stage) => { stage.append(frame(item.path, item.name)); }],
    ["Source", (stage, signal) => showText(item, stage, signal)],
  ]),

  async table(item, stage, signal) {
    const ending = endingOf(item.name);
    if (["csv", "tsv", "tab"].includes(ending)) {
      return alternatives(item, stage, signal, [
        ["Table", (stage, signal) => showTable(item.path, stage, signal)],
        ["Text", (stage, signal) => showText(item, stage, signal)],
      ]);
    }
    const isOld = !["xlsx", "xlsm", "xltx", "ods", "ots"].includes(ending);
    const base = (isOld ? item.path + ".as-xlsx" : item.path) + ".sheets";
    const sheets = (await ask("list", base, signal)).items.filter((one) => one.type === "file").map((one) => entry(one, base));
    await alternatives(item, stage, signal, [
      ...sheets.map((sheet) => [sheet.name.replace(/\.csv$/, ""), (stage, signal) => showTable(sheet.path, stage, signal)]),
      ["Pages", (stage, signal) => showPages(item, item.path + ".as-pdf", stage, signal)],
    ]);
  },

  mail: (item, stage, signal) => showMail(item, item.type === "directory" ? item.path : item.path + ".message", stage, signal),
  film: (item, stage, signal) => showMedia(item, stage, signal, "video"),
  sound: (item, stage, signal) => showMedia(item, stage, signal, "audio"),
  text: (item, stage, signal) => showText(item, stage, signal),
  code: (item, stage, signal) => showText(item, stage, signal),
  other: (item, stage, signal) => showText(item, stage, signal),
};

// MARK: Images

async function showImage(item, stage, signal, url) {
  const image = make("img.picture", { alt: item.name, draggable: "false" });
  const loaded = new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => answerOf(url, signal).then(
      () => reject(new Failure("This cannot be shown", "The browser cannot decode the image.", 422)), reject);
    signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
  image.src = url;
  stage.classList.add("dark");
  await loaded;
  stage.append(image);
  zoomable(stage, image, signal);
}

/** Adds zoom and pan by wheel, pinch, double tap, keys and buttons. A swipe moves on while the whole image is visible. */
function zoomable(stage, image, signal) {
  const most = 16;
  let [scale, x, y] = [1, 0, 0];
  const scaleText = make("output.scale", { "aria-label": "Zoom" });
  const apply = () => {
    const limit = (size, own) => Math.max(0, (own * scale - size) / 2);
    const [horizontal, vertical] = [limit(stage.clientWidth, image.clientWidth), limit(stage.clientHeight, image.clientHeight)];
    x = Math.max(-horizontal, Math.min(horizontal, x));
    y = Math.max(-vertical, Math.min(vertical, y));
    image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    stage.classList.toggle("zoomed", scale > 1);
    const natural = image.naturalWidth ? image.clientWidth * scale / image.naturalWidth : scale;
    scaleText.textContent = Math.round(natural * 100) + " %";
  };
  const zoom = (factor, at = null) => {
    const before = scale;
    scale = Math.max(1, Math.min(most, scale * factor));
    const box = stage.getBoundingClientRect();
    const [atX, atY] = at ? [at.x - box.left - box.width / 2, at.y - box.top - box.height / 2] : [0, 0];
    x = atX - (atX - x) * scale / before;
    y = atY - (atY - y) * scale / before;
    apply();
  };
  const fit = () => { [scale, x, y] = [1, 0, 0]; apply(); };
  viewer.tools.replaceChildren(tool("minus", "Smaller", "−", () => zoom(1 / 1.5)), scaleText,
    tool("plus", "Larger", "+", () => zoom(1.5)), tool("fit", "Fit", "0", fit));
  Object.assign(viewer.handlers, {
    "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": fit,
    ArrowUp: () => { y += 80; apply(); }, ArrowDown: () => { y -= 80; apply(); },
    ArrowLeft: () => { if (scale === 1) return false; x += 80; apply(); },
    ArrowRight: () => { if (scale === 1) return false; x -= 80; apply(); },
  });
  const points = new Map();
  let [start, last, tapped, spread] = [null, null, 0, 0];
  const distance = () => {
    const [one, other] = points.values();
    return Math.hypot(one.x - other.x, one.y - other.y);
  };
  const on = (name, action) => stage.addEventListener(name, action, { signal, passive: false });
  on("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event);
  });
  on("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    points.set(event.pointerId, { x: event.clientX, y: event.clientY });
    start = last = { x: event.clientX, y: event.clientY };
    if (points.size === 2) { spread = distance(); start = null; }
  });
  on("pointermove", (event) => {
    if (!points.has(event.pointerId)) return;
    points.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (points.size === 2) {
      const [one, other] = points.values();
      zoom(distance() / spread, { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
      spread = distance();
    } else if (scale > 1 && last) {
      x += event.clientX - last.x;
      y += event.clientY - last.y;
      apply();
    }
    last = { x: event.clientX, y: event.clientY };
  });
  const end = (event) => {
    points.delete(event.pointerId);
    last = null;
    if (!start || event.type === "pointercancel") return;
    const [wide, high] = [event.clientX - start.x, event.clientY - start.y];
    start = null;
    if (scale === 1 && Math.abs(wide) > 50 && Math.abs(wide) > 2 * Math.abs(high)) return viewer.step(wide < 0 ? 1 : -1);
    if (Math.hypot(wide, high) > 8) return;
    if (event.timeStamp - tapped < 350) {
      tapped = 0;
      if (scale > 1) fit(); else zoom(2.5, event);
    } else tapped = event.timeStamp;
  };
  on("pointerup", end);
  on("pointercancel", end);
  const sizes = new ResizeObserver(apply);
  sizes.observe(stage);
  signal.addEventListener("abort", () => sizes.disconnect());
  apply();
}

// MARK: Pages

/** Shows a PDF as images of its pages, which are fetched as they come near. */
async function showPages(item, pdf, stage, signal) {
  const base = pdf + ".pages";
  const pages = (await ask("list", base, signal)).items.filter((page) => page.type === "file").map((page) => entry(page, base));
  if (!pages.length) throw new Failure("This has no pages", "", 422);
  stage.classList.add("paper");
  const pixels = Math.min(devicePixelRatio, 2) * Math.min(stage.clientWidth, 900) > 1000 ? 2000 : 1200;
  const count = make("output.scale", {}, `1 / ${pages.length}`);
  viewer.tools.querySelector(".scale")?.remove();
  viewer.tools.append(count);
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const image = target.querySelector("img");
      if (isIntersecting) {
        if (!image.hasAttribute("src")) image.src = target.source;
      } else if (!image.complete) image.removeAttribute("src");
    }
  }, { root: stage, rootMargin: "900px 0px" });
  const inSight = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) count.textContent = `${target.number} / ${pages.length}`;
  }, { root: stage, rootMargin: "-45% 0px -45% 0px" });
  signal.addEventListener("abort", () => { near.disconnect(); inSight.disconnect(); count.remove(); });
  let ratio = "";
  stage.append(...pages.map((page, place) => {
    const image = make("img", { alt: `Page ${place + 1} of ${item.name}`, decoding: "async" });
    const sheet = make("figure.leaf", {}, image);
    sheet.source = fileURL(`${page.path}.${pixels}px.as-webp`);
    sheet.number = place + 1;
    image.addEventListener("load", () => {
      image.classList.add("ready");
      const own = `${image.naturalWidth} / ${image.naturalHeight}`;
      sheet.style.aspectRatio = own;
      // The other pages probably have the same size.
      if (!ratio) {
        ratio = own;
        for (const other of stage.children) if (!other.style.aspectRatio) other.style.aspectRatio = own;
      }
    });
    image.addEventListener("error", async () => {
      if (!image.hasAttribute("src") || signal.aborted) return;
      let error = new Failure("This page cannot be shown", "", 422);
      try { await answerOf(sheet.source, signal); } catch (problem) { error = problem; }
      if (!signal.aborted) {
        const again = () => {
          sheet.replaceChildren(image);
          image.src = sheet.source + "&again";
        };
        sheet.replaceChildren(make("div.state", {}, ...failed(error, again)));
      }
    });
    near.observe(sheet);
    inSight.observe(sheet);
    return sheet;
  }));
}

// MARK: Formatted text

const kept = new Set(("p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre code b strong i em u s del sub sup small br hr table thead tbody "
  + "tfoot tr th td caption a img div span section article figure figcaption kbd samp var mark abbr q cite time").split(" "));
const dropped = new Set(("script style template iframe object embed form input button textarea select link meta base title svg math "
  + "noscript audio video head").split(" "));
const heldAttributes = { td: ["colspan", "rowspan"], th: ["colspan", "rowspan", "scope"], ol: ["start"] };

/** Shows a converted page, rebuilt from elements that are known to be harmless, in the style of this page. */
async function showProse(path, stage, signal) {
  const parsed = new DOMParser().parseFromString(
    (await textOf(path, signal)).replace(/<style[^]*?<\/style>/gi, ""), "text/html");
  const prose = make("article.prose", { dir: "auto" });
  stage.append(prose);
  let count = 0;
  const todo = [[parsed.body, prose]];
  while (todo.length) {
    const [source, target] = todo.pop();
    for (const node of source.childNodes) {
      if (++count % 4000 === 0) await breathe(signal);
      if (node.nodeType === Node.TEXT_NODE) target.append(node.nodeValue);
      else if (node.nodeType === Node.ELEMENT_NODE && !dropped.has(node.localName)) {
        const copy = kept.has(node.localName) ? harmless(node, path) : null;
        if (copy) target.append(copy);
        todo.push([node, copy || target.appendChild(make("div"))]);
      }
    }
  }
  for (const table of prose.querySelectorAll("table")) {
    const around = make("div.around");
    table.replaceWith(around);
    around.append(table);
  }
  if (!prose.textContent.trim() && !prose.querySelector("img")) {
    prose.replaceWith(make("div.state", {}, ...statement("text", "No text found")));
  }
}

function harmless(node, path) {
  const copy = document.createElement(node.localName);
  for (const name of heldAttributes[node.localName] || []) {
    if (node.hasAttribute(name)) copy.setAttribute(name, node.getAttribute(name));
  }
  if (node.id) copy.id = "in-" + node.id;
  const base = "http://inside.invalid" + (parentOf(path) + "/").replace("//", "/");
  if (node.localName === "a" && node.hasAttribute("href")) {
    const given = node.getAttribute("href");
    const target = safeURL(given, base);
    if (given.startsWith("#")) {
      copy.href = location.hash;
      copy.addEventListener("click", (event) => {
        event.preventDefault();
        document.getElementById("in-" + given.slice(1))?.scrollIntoView();
      });
    } else if (target?.host === "inside.invalid") {
      copy.href = fileHash(target.pathname);
      // A picture of Markdown, which the converted page only links to.
      if (node.classList.contains("picture")) {
        copy.append(make("img", { alt: node.textContent, src: fileURL(target.pathname) }));
        node.replaceChildren();
      }
    } else if (target && ["http:", "https:", "mailto:"].includes(target.protocol)) {
      Object.assign(copy, { href: target.href, target: "_blank", rel: "noopener noreferrer" });
    }
  }
  if (node.localName === "img") {
    const given = node.getAttribute("src") || "";
    copy.alt = node.getAttribute("alt") || "";
    const target = safeURL(given, base);
    if (/^data:image\/(png|jpeg|gif|webp|avif|bmp);/.test(given)) copy.src = given;
    else if (target?.host === "inside.invalid") copy.src = fileURL(target.pathname);
    else return make("span.quietly", {}, copy.alt);
  }
  return copy;
}

function safeURL(text, base) {
  try { return new URL(text, base); } catch { return null; }
}

/** Lets the page draw and respond. Throws if the work has been cancelled. */
async function breathe(signal) {
  await new Promise((resolve) => setTimeout(resolve));
  if (signal.aborted) throw new DOMException("", "AbortError");
}

/** Frames a page of the tree, without scripts, that can open and send nothing. Its own origin lets it show adjacent files. */
function frame(path, title) {
  const page = make("iframe.page", { sandbox: "allow-same-origin", src: davURL(path), title, referrerpolicy: "no-referrer" });
  // Starts when the document exists, which may be long before it has loaded.
  const watch = () => {
    const inner = page.contentDocument;
    if (inner && inner.URL !== "about:blank") inner.addEventListener("click", follow);
    else if (page.isConnected || !inner) requestAnimationFrame(watch);
  };
  requestAnimationFrame(watch);
  return page;
}

/** Opens an external link of a frame, which the frame itself is not permitted to do. */
function follow(event) {
  const target = safeURL(event.target.closest?.("a[href]")?.href ?? "", location.href);
  if (!target || target.origin === location.origin || !["http:", "https:", "mailto:"].includes(target.protocol)) return;
  event.preventDefault();
  open(target.href, "_blank", "noopener,noreferrer");
}

// MARK: Mail

async function showMail(item, base, stage, signal) {
  const [headerText, found] = await Promise.all([textOf(base + "/headers.txt", signal), ask("list", base, signal)]);
  const names = found.items.map((one) => one.name);
  const headers = [];
  for (const line of headerText.split(/\r?\n/)) {
    if (/^[ \t]/.test(line) && headers.length) headers.at(-1)[1] += " " + line.trim();
    else if (line.includes(":")) headers.push([line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  }
  const value = (name) => headers.find(([own]) => own.toLowerCase() === name)?.[1] || "";
  const subject = value("subject") || "(no subject)";
  viewer.title.textContent = subject;
  document.title = `${subject} – ffmount`;
  const date = Date.parse(value("date"));
  const rows = [["From", value("from")], ["To", value("to")], ["Cc", value("cc")]].filter(([, text]) => text);
  const letter = make("article.letter", {}, make("h1", { dir: "auto" }, subject),
    make("p.date", {}, Number.isNaN(date) ? value("date") : timeFormat.format(date)),
    make("dl.people", {}, ...rows.flatMap(([name, text]) => [make("dt", {}, name), make("dd", { dir: "auto" }, text)])),
    make("details", {}, make("summary", {}, "All headers"), make("dl.people.all", {}, ...headers.flatMap(([name, text]) => [
      make("dt", { dir: "auto" }, name), make("dd", { dir: "auto" }, text)]))));
  if (names.includes("attachments")) {
    const folder = base + "/attachments";
    const files = (await ask("list", folder, signal)).items.filter((one) => !one.view).map((one) => entry(one, folder));
    letter.append(make("ul.attachments", { "aria-label": "Attachments" }, ...files.map((file) => make("li", {},
      make("a.chip", { href: hashFor(file) }, icon(icons[file.kind]), make("span", { dir: "auto" }, file.name),
        make("small", {}, sizeText(file)))))));
  }
  stage.append(letter);
  const body = make("div.text");
  letter.append(body);
  const asText = async () => {
    const text = names.includes("body.txt") ? await textOf(base + "/body.txt", signal) : "";
    body.replaceChildren(text ? make("pre.plain", { dir: "auto" }, text) : make("p.quietly", {}, "The message has no text."));
  };
  const asPage = () => {
    const page = frame(base + "/body.html", "Message");
    page.classList.add("mail");
    // The frame is as high as its content, so that the message scrolls as a whole.
    page.addEventListener("load", () => {
      const root = page.contentDocument?.documentElement;
      if (!root) return;
      const fit = () => { page.style.height = Math.max(60, root.scrollHeight + 2) + "px"; };
      fit();
      new ResizeObserver(fit).observe(root);
    });
    body.replaceChildren(page);
  };
  const both = names.includes("body.html") && names.includes("body.txt");
  if (both) viewer.tools.append(tabs(["Formatted", "Text"], (place) => (place ? asText() : asPage())));
  if (names.includes("body.html")) asPage(); else await asText();
}

// MARK: Sound and films

async function showMedia(item, stage, signal, tag) {
  const media = document.createElement(tag);
  const ending = endingOf(item.name);
  const types = {
    mp4: "video/mp4", m4v: "video/mp4", webm: "video/webm", ogv: "video/ogg", mov: "video/quicktime", mkv: "video/x-matroska",
    mp3: "audio/mpeg", m4a: "audio/mp4", aac: "audio/aac", ogg: "audio/ogg", oga: "audio/ogg", opus: 'audio/ogg; codecs="opus"',
    flac: "audio/flac", wav: "audio/wav", wave: "audio/wav",
  };
  const isFilm = tag === "video";
  const conversion = !isFilm ? "mp3" : media.canPlayType('video/mp4; codecs="avc1.42E01E, mp4a.40.2"') ? "mp4" : "webm";
  const note = make("p.note", { role: "status" });
  media.controls = true;
  media.preload = "metadata";
  media.setAttribute("aria-label", item.name);
  if (isFilm) media.playsInline = true;
  const card = make("div.player." + tag);
  if (isFilm) {
    stage.classList.add("dark");
    media.poster = fileURL(item.path + ".as-jpeg");
  } else {
    const wave = make("img.wave", { alt: `The course of ${item.name}'s loudness` });
    wave.onerror = () => wave.remove();
    wave.src = fileURL(item.path + ".800x160.waveform.as-png");
    card.append(make("span.picture.sound", {}, icon("sound", "glyph")), make("h3", { dir: "auto" }, item.name), wave);
  }
  card.append(media, note);
  stage.append(card);
  // What is tried, one after the other: the file, the segments of a film, and the conversion of the whole.
  const asked = [[fileURL(`${item.path}.as-${conversion}`), `Converted to ${conversion.toUpperCase()}`]];
  if (isFilm && media.canPlayType("application/vnd.apple.mpegurl")) {
    asked.unshift([davURL(`${item.path}.hls/index.m3u8`), "Converted while it plays"]);
  }
  if (types[ending] && media.canPlayType(types[ending])) asked.unshift([fileURL(item.path)]);
  const play = () => {
    const [url, how] = asked.shift();
    note.textContent = how ? `${how}, as the browser does not play ${ending.toUpperCase()}.` : "";
    media.src = url;
  };
  media.addEventListener("error", async () => {
    if (signal.aborted || !media.hasAttribute("src")) return;
    if (asked.length) return play();
    let error = new Failure("This cannot be played", "The browser plays neither it nor its conversion.", 422);
    try { await answerOf(media.currentSrc || media.src, signal); } catch (problem) { error = problem; }
    if (!signal.aborted && error.name !== "AbortError") viewer.explain(item, error, () => viewer.show(item));
  });
  play();
  if (isFilm) offerSubtitles(item, media, signal);
  viewer.handlers[" "] = () => { if (media.paused) media.play(); else media.pause(); };
}

/** Offers the subtitles in a film or next to it. They are fetched when selected. */
async function offerSubtitles(item, media, signal) {
  const stem = item.name.replace(/\.[^.]*$/, "");
  const isSubtitle = (name) => /\.(srt|vtt)$/i.test(name);
  const folder = parentOf(item.path);
  const inside = item.path + ".streams";
  const within = async (path) => {
    try { return (await ask("list", path, signal)).items.map((one) => entry(one, path)); } catch { return []; }
  };
  const [beside, own] = await Promise.all([listing.path === folder ? listing.all : within(folder), within(inside)]);
  const found = [
    ...beside.filter((one) => isSubtitle(one.name) && one.name.startsWith(stem + "."))
      .map((one) => [one.name.slice(stem.length + 1).replace(/\.?[^.]*$/, "") || "Subtitles", one.path]),
    ...own.filter((one) => isSubtitle(one.name)).map((one) => [one.name.replace(/^\d+ subtitle |\.[^.]*$/g, ""), one.path]),
  ];
  if (signal.aborted) return;
  const tracks = found.map(([label, path]) => {
    const track = media.addTextTrack("subtitles", label, /^[a-z]{2,3}\b/i.exec(label)?.[0].toLowerCase() || "");
    track.mode = "disabled";
    return { track, path };
  });
  media.textTracks.addEventListener("change", async () => {
    for (const one of tracks) {
      if (one.track.mode !== "showing" || one.isAsked) continue;
      one.isAsked = true;
      try {
        for (const [from, to, text] of cuesOf(await textOf(one.path, signal))) one.track.addCue(new VTTCue(from, to, text));
      } catch (error) {
        one.isAsked = false;
        if (error.name !== "AbortError") toast("The subtitles cannot be read");
      }
    }
  }, { signal });
}

/** Yields the cues of SubRip and WebVTT: [from, to, text], in seconds. */
function* cuesOf(text) {
  const time = (hours, minutes, seconds) => Number(hours || 0) * 3600 + Number(minutes) * 60 + Number(seconds.replace(",", "."));
  const stamp = String.raw`(?:(\d+):)?(\d+):(\d+[.,]\d+)`;
  const line = new RegExp(`^${stamp}[ \\t]+-->[ \\t]+${stamp}`);
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n{2,}/)) {
    const lines = block.split("\n");
    const place = lines.findIndex((one) => line.test(one));
    if (place < 0) continue;
    const [, ...parts] = line.exec(lines[place]);
    const words = lines.slice(place + 1).join("\n").replace(/\{\\[^}]*\}/g, "");
    yield [time(...parts.slice(0, 3)), time(...parts.slice(3)), words];
  }
}

// MARK: Tables

const mostCells = 2_000_000;

/** Yields rows of cells (RFC 4180), with the most frequent separator of the first line. */
async function* rowsOf(text, signal) {
  const first = text.slice(0, text.indexOf("\n") + 1 || undefined);
  const separator = ["\t", ";", ",", "|"].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best), ",");
  let row = [];
  let cells = 0;
  let place = 0;
  while (place < text.length) {
    let cell = "";
    if (text[place] === '"') {
      let from = place + 1;
      for (;;) {
        const quote = text.indexOf('"', from);
        if (quote < 0) { cell += text.slice(from); place = text.length; break; }
        cell += text.slice(from, quote);
        if (text[quote + 1] !== '"') { place = quote + 1; break; }
        cell += '"';
        from = quote + 2;
      }
    }
    let end = place;
    while (end < text.length && text[end] !== separator && text[end] !== "\n") end++;
    cell += text.slice(place, end).replace(/\r$/, "");
    row.push(cell);
    place = end + 1;
    if (text[end] !== separator) {
      yield row;
      row = [];
    } else if (place >= text.length) row.push("");
    if (++cells % 20000 === 0) await breathe(signal);
    if (cells > mostCells) return;
  }
  if (row.length) yield row;
}

async function showTable(path, stage, signal) {
  const answer = await ask("view", path, signal);
  const text = answer.content ?? await textOf(path, signal);
  const rows = [];
  for await (const row of rowsOf(text, signal)) rows.push(row);
  if (!rows.length) return stage.append(make("div.state", {}, ...statement("table", "The table is empty")));
  const [names, ...lines] = rows;
  const isNumber = names.map((_, column) => {
    const sample = lines.slice(0, 60).map((line) => line[column]).filter(Boolean);
    return sample.length > 0 && sample.every((cell) => /^[-+]?[\d.,’' ]+\s?[%€$£]?$/.test(cell));
  });
  const body = make("tbody");
  const table = make("table.cells", {}, make("thead", {}, make("tr", {}, make("th.number", { scope: "col" }, make("span.quiet", {}, "Row")),
    ...names.map((name, column) => {
      const button = make("button", { type: "button", click: () => sort(column) }, name || "–", icon("sort"));
      return make("th", { scope: "col", class: isNumber[column] ? "right" : undefined, dir: "auto" }, button);
    }))), body);
  let shown = 0;
  let by = { column: -1, backwards: false };
  let sorted = lines.map((line, place) => [place + 1, line]);
  const amount = (cell) => Number((cell || "").replace(/[^\d.,+-]/g, "").replace(/,(?=\d{1,2}$)/, ".").replaceAll(",", "")) || 0;
  const classOf = (cell, column) => (isNumber[column] ? "right" : cell.length <= 28 ? "short" : undefined);
  // A few hundred rows at a time, as the user scrolls to them.
  const more = () => {
    const end = Math.min(sorted.length, shown + 300);
    const part = document.createDocumentFragment();
    for (; shown < end; shown++) {
      const [number, line] = sorted[shown];
      const row = make("tr", {}, make("th.number", { scope: "row" }, String(number)));
      for (let column = 0; column < Math.max(names.length, line.length); column++) {
        row.append(make("td", { class: classOf(line[column] ?? "", column), dir: "auto" }, line[column] ?? ""));
      }
      part.append(row);
    }
    body.append(part);
    end_.hidden = shown >= sorted.length;
  };
  const sort = (column) => {
    by = { column, backwards: by.column === column && !by.backwards };
    const collator = new Intl.Collator(undefined, { numeric: true });
    const sign = by.backwards ? -1 : 1;
    sorted.sort(([, one], [, other]) => sign * (isNumber[column] ? amount(one[column]) - amount(other[column])
      : collator.compare(one[column] ?? "", other[column] ?? "")));
    [...table.tHead.rows[0].cells].forEach((cell, place) => {
      if (place === column + 1) cell.setAttribute("aria-sort", by.backwards ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren();
    shown = 0;
    stage.scrollTop = 0;
    more();
  };
  const end_ = make("div.end", { "aria-hidden": "true" });
  stage.classList.add("sheets");
  stage.append(table, end_);
  if (answer.isCut) stage.append(cutNote(path, "rows"));
  const watch = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { root: stage, rootMargin: "1200px" });
  watch.observe(end_);
  signal.addEventListener("abort", () => watch.disconnect());
  const count = make("output.scale", {}, `${plural(lines.length, "row")}`);
  viewer.tools.querySelector(".scale")?.remove();
  viewer.tools.append(count);
  signal.addEventListener("abort", () => count.remove());
  more();
}

const cutNote = (path, what) => make("p.cut", {}, `These are the first ${what} of it. `,
  make("a", { href: saveURL(path, false), download: "" }, "Download all of it"));

// MARK: Text

async function showText(item, stage, signal) {
  const answer = await ask("view", item.path, signal);
  if (answer.type === "image") return showImage(item, stage, signal, fileURL(item.path));
  if (answer.type === "binary") {
    stage.append(make("div.state", {}, ...statement("file", "No preview available",
      [kindLabel(item), answer.mimeType, sizeText(answer)].filter(Boolean).join(" · "), "Open as…", () => showAbout(item, true)),
      make("a.button", { href: saveURL(item.path, false), download: "" }, icon("download"), "Download")));
    return;
  }
  const text = answer.content;
  if (!text) return stage.append(make("div.state", {}, ...statement("text", "The file is empty")));
  const code = make("div.source", { translate: "no", dir: "ltr" });
  const wraps = () => settings.get("wrap") === "on";
  const wrap = tool("wrap", "Wrap long lines", "w", () => switchWrap());
  const showWrap = () => {
    code.classList.toggle("wraps", wraps());
    wrap.setAttribute("aria-pressed", String(wraps()));
  };
  const switchWrap = () => { settings.set("wrap", wraps() ? "off" : "on"); showWrap(); };
  viewer.handlers.w = switchWrap;
  viewer.tools.querySelector(".wrapper")?.remove();
  wrap.classList.add("wrapper");
  viewer.tools.append(wrap);
  signal.addEventListener("abort", () => wrap.remove());
  showWrap();
  stage.append(code);
  if (answer.isCut) stage.append(cutNote(item.path, "megabyte"));
  await drawText(code, text, answer.language, stage, signal);
}

/** Shows lines in blocks, each highlighted and drawn when it comes near. */
async function drawText(code, text, language, stage, signal) {
  const perBlock = 100;
  const starts = [0];
  for (let place = text.indexOf("\n"); place >= 0; place = text.indexOf("\n", place + 1)) starts.push(place + 1);
  if (starts.at(-1) === text.length && starts.length > 1) starts.pop();
  code.style.setProperty("--digits", String(starts.length).length);
  const blocks = [];
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) { near.unobserve(target); draw(target); }
  }, { root: stage, rootMargin: "1500px 0px" });
  signal.addEventListener("abort", () => near.disconnect());
  // Blocks are drawn without colours first.
  const found = [];
  let highlightedTo = 0;
  let isDone = false;
  const draw = (block) => {
    const first = block.first;
    const last = Math.min(starts.length, first + perBlock);
    const lines = [];
    const begin = starts[first];
    const isColoured = isDone || highlightedTo >= (starts[last] ?? text.length);
    let token = isColoured ? firstToken(found, begin) : found.length;
    for (let number = first; number < last; number++) {
      const end = number + 1 < starts.length ? starts[number + 1] - 1 : text.length;
      const line = document.createElement("div");
      line.dataset.number = number + 1;
      let place = starts[number];
      while (token < found.length && found[token][0] < end) {
        const [from, to, kind] = found[token];
        if (from > place) line.append(text.slice(place, from));
        const start = Math.max(from, place);
        const part = document.createElement("span");
        part.className = kind;
        part.textContent = text.slice(start, Math.min(to, end));
        line.append(part);
        place = Math.min(to, end);
        if (to > end) break;
        token++;
      }
      line.append(text.slice(place, end).replace(/\r$/, "") || (place === starts[number] ? "\u200b" : ""));
      lines.push(line);
    }
    block.isDrawn = isColoured ? 2 : 1;
    block.replaceChildren(...lines);
    block.style.height = "";
  };
  for (let first = 0; first < starts.length; first += perBlock) {
    const block = make("div.block");
    block.first = first;
    const count = Math.min(perBlock, starts.length - first);
    block.style.height = count * 20 + "px";
    blocks.push(block);
  }
  code.append(...blocks);
  blocks.forEach((block) => near.observe(block));
  draw(blocks[0]);
  let coloured = 0;
  let until = performance.now() + 12;
  for (const token of tokens(text, language)) {
    found.push(token);
    highlightedTo = token[1];
    if (performance.now() < until) continue;
    await breathe(signal);
    while (coloured < blocks.length && (starts[blocks[coloured].first + perBlock] ?? Infinity) <= highlightedTo) {
      if (blocks[coloured].isDrawn === 1) draw(blocks[coloured]);
      coloured++;
    }
    until = performance.now() + 12;
  }
  isDone = true;
  for (; coloured < blocks.length; coloured++) if (blocks[coloured].isDrawn === 1) draw(blocks[coloured]);
}

/** Returns the index of the first token that ends after a position. */
function firstToken(found, place) {
  let [low, high] = [0, found.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle][1] <= place) low = middle + 1; else high = middle;
  }
  return low;
}

// MARK: Highlighting

const words = (text) => new Set(text.split(" "));
const common = "if else for while do switch case default break continue return try catch finally throw new class enum struct interface "
  + "import public private protected static const true false null this void int float double char bool string var let function ";
const languageWords = {
  c: common + "unsigned signed long short sizeof typedef union extern inline goto register volatile NULL auto size_t",
  cpp: common + "unsigned signed long short sizeof typedef union extern inline goto volatile auto namespace using template typename "
    + "virtual override final constexpr consteval noexcept nullptr operator friend delete mutable explicit concept requires co_await",
  csharp: common + "using namespace foreach in is as async await get set override virtual abstract sealed partial record readonly ref out "
    + "params base object decimal long byte where yield lock event delegate",
  java: common + "package extends implements final abstract synchronized throws instanceof super long short byte boolean record sealed "
    + "permits yield transient volatile native default",
  kotlin: common + "fun val when is in as object companion data sealed override open internal suspend package by init constructor lateinit "
    + "typealias out super reified inline",
  scala: common + "def val object trait extends with match yield type implicit given using package override sealed lazy final abstract super",
  groovy: common + "def in as package extends implements",
  javascript: common + "typeof instanceof in of async await yield delete export from extends super get set debugger undefined NaN with",
  typescript: common + "typeof instanceof in of async await yield delete export from extends super get set undefined type namespace declare "
    + "abstract readonly implements keyof infer is as satisfies any unknown never number boolean symbol object",
  swift: common + "func guard protocol extension init deinit self Self super where in is as inout throws rethrows async await actor nil some any "
    + "typealias associatedtype mutating nonmutating lazy weak unowned defer repeat fallthrough internal fileprivate open override final "
    + "subscript get set willSet didSet indirect operator package consuming borrowing",
  rust: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return "
    + "self Self static struct super trait true type unsafe use where while i8 i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 bool str char",
  go: common + "package func defer go chan map range select type fallthrough nil iota error byte rune int64 int32 uint uint64 float64 any goto",
  zig: common + "fn pub comptime defer errdefer error orelse unreachable undefined union usize u8 u16 u32 u64 i32 i64 test inline and or",
  dart: common + "final late async await dynamic extends implements mixin with on show hide is as in library part required super factory",
  php: common + "echo print foreach as elseif endif endforeach use namespace abstract extends implements trait fn match require include once",
  d: common + "module auto immutable alias template foreach foreach_reverse in out ref scope unittest override final",
  objectivec: common + "id self super nil YES NO strong weak nonatomic property implementation end protocol unsigned long",
  glsl: common + "vec2 vec3 vec4 mat2 mat3 mat4 uniform in out attribute varying sampler2D precision highp layout discard",
  protobuf: "syntax package import option message enum service rpc returns repeated optional required oneof map reserved string bytes bool "
    + "int32 int64 uint32 uint64 double float true false stream",
  graphql: "type query mutation subscription schema input enum interface union scalar fragment on implements extend directive true false null",
  hcl: "resource variable output module provider data locals terraform for in if true false null",
  verilog: "module endmodule input output inout wire reg logic always initial begin end if else case endcase assign posedge negedge parameter "
    + "function endfunction task endtask for generate genvar",
  python: "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match case "
    + "nonlocal not or pass raise return try while with yield True False None self",
  ruby: "alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return "
    + "self super then true undef unless until when while yield require attr_accessor attr_reader puts",
  perl: "my our local sub if elsif else unless while until for foreach return last next redo use no package require print die and or not eq ne",
  bash: "if then else elif fi for while until do done case esac in function return local export readonly declare set unset shift exit source "
    + "echo printf test true false trap eval exec cd",
  powershell: "if else elseif foreach for while do switch function param return try catch finally throw begin process end in break continue",
  r: "if else for while repeat function return next break TRUE FALSE NULL NA Inf NaN in library require",
  elixir: "def defp defmodule defmacro do end if else unless case cond when fn use import alias require true false nil and or not in with for raise try rescue",
  julia: "function end if else elseif for while do begin let struct mutable abstract module using import export return true false nothing const in macro try catch finally",
  nim: "proc func method template macro var let const type object enum if elif else case of for while return import from export when block yield true false nil and or not",
  nix: "let in with rec inherit if then else assert import true false null",
  cmake: "if else elseif endif foreach endforeach while endwhile function endfunction macro endmacro set project add_executable add_library "
    + "target_link_libraries find_package include ON OFF TRUE FALSE",
  makefile: "ifeq ifneq ifdef ifndef else endif include define endef export override",
  dockerfile: "FROM RUN CMD COPY ADD ENV ARG WORKDIR EXPOSE ENTRYPOINT USER VOLUME LABEL SHELL HEALTHCHECK ONBUILD STOPSIGNAL AS",
  sql: "select from where insert into values update set delete create table index view drop alter add column primary key foreign references not "
    + "null and or in is like between join left right inner outer full on group by having order asc desc limit offset union all distinct as case "
    + "when then else end exists default unique check begin commit rollback with returning integer text varchar char boolean date timestamp real",
  lua: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  haskell: "module import where let in do case of if then else data type newtype class instance deriving forall infixl infixr qualified as hiding",
  ada: "procedure function is begin end if then else elsif loop while for in out return type record package body with use array of range case when exception others null new and or not",
  vhdl: "library use entity is port in out inout architecture of begin end signal process if then else elsif case when others downto to generic map component constant variable",
  lisp: "defun defmacro defvar let let* lambda if cond progn setq quote define begin set! nil t case when unless do loop require",
  clojure: "def defn defmacro let fn if cond do loop recur ns require when when-not case try catch throw nil true false",
  erlang: "module export import fun case of end if when receive after try catch throw begin div rem and or not true false",
  ocaml: "let rec in fun function match with type module struct sig end open include if then else begin val mutable of and true false exception try raise",
  fsharp: "let rec in fun function match with type module open if then else elif begin end val mutable of and true false null try finally raise yield async member static",
  pascal: "program unit uses interface implementation begin end procedure function var const type record array of if then else for to downto do while repeat until case with nil and or not div mod class string integer boolean true false",
  fortran: "program end subroutine function module use implicit none integer real logical character double precision complex parameter dimension allocatable do if then else elseif enddo endif call return contains intent in out inout type where print write read stop",
  assembly: "mov add sub mul div push pop call ret jmp je jne jz jnz cmp lea and or xor not shl shr inc dec int nop section global extern db dw dd dq",
  batch: "echo set if else for in do goto call exit rem not exist defined errorlevel off on setlocal endlocal pause cd",
  yaml: "true false null yes no on off", toml: "true false", ini: "true false yes no on off", json: "true false null", css: "",
};

const string = String.raw`"(?:[^"\\\n]|\\[^])*"?`;
const single = String.raw`'(?:[^'\\\n]|\\[^])*'?`;
const hashed = String.raw`#[^\n]*`;
const slashed = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|(?![^]))`;
const dashed = String.raw`--[^\n]*`;
const number = String.raw`\b(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)[a-zA-Z%]*\b`;

/** The syntax of comments and strings, for families of languages. */
const grammars = {
  slashes: { comment: slashed, string: `${string}|${single}|\`(?:[^\`\\\\]|\\\\[^])*\`?`, extra: String.raw`@[A-Za-z_]\w*|^[ \t]*#[a-z]+\b` },
  swift: { comment: slashed, string: `#*"""[^]*?(?:"""#*|(?![^]))|${string}`, extra: String.raw`@[A-Za-z_]\w*|#[a-z]\w*` },
  rust: { comment: slashed, string: `r#*"[^]*?(?:"#*|(?![^]))|${string}|'(?:[^'\\\\\\n]|\\\\.)'`, extra: String.raw`#!?\[[^\]\n]*\]|'[a-z]\w*\b|\b[a-z_]\w*!` },
  python: { comment: hashed, string: `[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|(?![^]))|'''[^]*?(?:'''|(?![^]))|${string}|${single})`, extra: String.raw`@[A-Za-z_][\w.]*` },
  hashes: { comment: hashed, string: `${string}|${single}`, extra: String.raw`\$[\w{(][\w]*|:[A-Za-z_]\w*\b|@{1,2}[A-Za-z_]\w*` },
  bash: { comment: String.raw`(?<![^\s;(])#[^\n]*`, string: String.raw`"(?:[^"\\]|\\[^])*"?|'[^']*'?`, extra: String.raw`\$(?:\{[^}\n]*\}?|\w+|[@*#?$!-])` },
  php: { comment: `${slashed}|${hashed}`, string: `${string}|${single}`, extra: String.raw`\$\w+|<\?(?:php|=)?|\?>` },
  sql: { comment: `${dashed}|\\/\\*[^]*?(?:\\*\\/|(?![^]))`, string: `'(?:[^']|'')*'?|"(?:[^"]|"")*"?`, ignoresCase: true },
  lua: { comment: String.raw`--\[\[[^]*?(?:\]\]|(?![^]))|--[^\n]*`, string: `\\[\\[[^]*?(?:\\]\\]|(?![^]))|${string}|${single}` },
  haskell: { comment: String.raw`\{-[^]*?(?:-\}|(?![^]))|--[^\n]*`, string },
  dashes: { comment: dashed, string, ignoresCase: true },
  lisp: { comment: String.raw`;[^\n]*|#\|[^]*?(?:\|#|(?![^]))`, string: String.raw`"(?:[^"\\]|\\[^])*"?`, extra: String.raw`:[\w-]+` },
  percent: { comment: String.raw`%[^\n]*`, string: `${string}|${single}` },
  ml: { comment: String.raw`\(\*[^]*?(?:\*\)|(?![^]))|\/\/[^\n]*`, string },
  pascal: { comment: String.raw`\{[^]*?(?:\}|(?![^]))|\(\*[^]*?(?:\*\)|(?![^]))|\/\/[^\n]*`, string: `'(?:[^'\\n]|'')*'?`, ignoresCase: true },
  fortran: { comment: String.raw`![^\n]*|^[cC*][ \t][^\n]*`, string: `${string}|${single}`, ignoresCase: true },
  assembly: { comment: String.raw`[;#][^\n]*|\/\/[^\n]*|\/\*[^]*?(?:\*\/|(?![^]))`, string, extra: String.raw`^[ \t]*[\w.$]+:|%\w+`, ignoresCase: true },
  batch: { comment: String.raw`^[ \t]*(?:rem\b|::)[^\n]*`, string, extra: String.raw`%[^%\s]+%|^:\w+`, ignoresCase: true },
  markup: {
    comment: String.raw`<!--[^]*?(?:-->|(?![^]))`, string: String.raw`(?<==\s*)(?:"[^"<]*"?|'[^'<]*'?)`,
    keyword: String.raw`<[\/?!]?[A-Za-z][\w:.-]*|[\/?]?>`, extra: String.raw`[A-Za-z_:][\w:.-]*(?=\s*=\s*["'])|&#?\w+;`,
  },
  css: {
    comment: slashed, string: `${string}|${single}`, keyword: String.raw`@[\w-]+|![a-z]+`,
    extra: String.raw`[\w-]+(?=\s*:[^{}\n]*[;}\n])|[.#][A-Za-z_][\w-]*|--[\w-]+`, number: String.raw`#[\da-fA-F]{3,8}\b|-?\b\d+(?:\.\d+)?(?:[a-z]+|%)?`,
  },
  json: { comment: slashed, extra: String.raw`"(?:[^"\\\n]|\\.)*"(?=\s*:)`, string },
  yaml: { comment: String.raw`(?<![^\s])#[^\n]*`, extra: String.raw`^[ \t-]*[^\s#:'"][^:#\n]*(?=:(?:\s|$))|[&*]\w+`, string: `${string}|'(?:[^']|'')*'?` },
  ini: { comment: String.raw`^[ \t]*[;#][^\n]*`, keyword: String.raw`^[ \t]*\[[^\]\n]*\]`, extra: String.raw`^[ \t]*[\w.\-]+(?=\s*[=:])`, string: `"""[^]*?(?:"""|(?![^]))|${string}` },
  mail: { extra: String.raw`^[A-Za-z][\w-]*(?=:)`, comment: String.raw`^>[^\n]*` },
  markdown: {
    keyword: String.raw`^#{1,6} [^\n]*`, string: String.raw`\x60\x60\x60[^]*?(?:\x60\x60\x60|(?![^]))|\x60[^\x60\n]*\x60`, comment: String.raw`^>[^\n]*`,
    extra: String.raw`\*\*[^*\n]+\*\*|\[[^\]\n]*\]\([^)\n]*\)|^[ \t]*(?:[-*+]|\d+\.) `,
  },
};

const grammarOf = {
  swift: "swift", rust: "rust", python: "python", php: "php", sql: "sql", lua: "lua", haskell: "haskell", json: "json", css: "css", yaml: "yaml",
  toml: "ini", ini: "ini", xml: "markup", html: "markup", bash: "bash", dockerfile: "hashes", makefile: "bash", cmake: "hashes", ruby: "hashes",
  perl: "hashes", r: "hashes", elixir: "hashes", julia: "hashes", nim: "hashes", nix: "hashes", graphql: "hashes", powershell: "hashes",
  ada: "dashes", vhdl: "dashes", lisp: "lisp", clojure: "lisp", erlang: "percent", ocaml: "ml", fsharp: "ml", pascal: "pascal", fortran: "fortran",
  assembly: "assembly", batch: "batch", mail: "mail", markdown: "markdown", plain: null, csv: null,
};

/** Yields the coloured parts of a text, in order: [from, to, kind]. */
function* tokens(text, language) {
  const name = language in grammarOf ? grammarOf[language] : "slashes";
  if (!name) return;
  const grammar = grammars[name];
  const isMarkup = name === "markup" || name === "mail" || name === "markdown";
  const known = words(languageWords[language] ?? common);
  const parts = Object.entries({
    comment: grammar.comment, extra: name === "json" || name === "yaml" ? grammar.extra : null, string: grammar.string,
    keyword: grammar.keyword, name: name === "json" || name === "yaml" ? null : grammar.extra,
    number: isMarkup ? null : grammar.number || number, word: isMarkup ? null : String.raw`[\p{L}_][\p{L}\p{N}_]*[!?]?`,
  }).filter(([, source]) => source).map(([kind, source]) => `(?<${kind}>${source})`);
  const pattern = new RegExp(parts.join("|"), "gmu");
  for (const match of text.matchAll(pattern)) {
    const [kind, value] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    const from = match.index;
    const to = from + value.length;
    if (kind === "word") {
      const bare = value.replace(/[!?]$/, "");
      if (known.has(grammar.ignoresCase ? bare.toLowerCase() : bare) || known.has(bare)) yield [from, from + bare.length, "t-keyword"];
      else if (/^\p{Lu}/u.test(value)) yield [from, from + bare.length, "t-type"];
      else if (text[from + bare.length] === "(") yield [from, from + bare.length, "t-call"];
    } else if (value) yield [from, to, { comment: "t-comment", string: "t-string", number: "t-number", keyword: "t-keyword" }[kind] || "t-name"];
  }
}

// MARK: Start

$("up").addEventListener("click", goUp);
$("layout").addEventListener("click", switchLayout);
$("menu").addEventListener("click", showOptions);
$("about").addEventListener("click", () => showAbout({
  name: listing.path === "/" || listing.path === null ? "Start" : lastOf(listing.path), type: "directory", kind: "folder", size: null,
  path: listing.path ?? "/", time: 0,
}));
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  listing.focus(listing.current);
});
addEventListener("hashchange", route);
showSort();
showLayout();
// After write.js, which page.js needs. Until then, nothing can be clicked.
document.body.inert = true;
addEventListener("DOMContentLoaded", () => {
  document.body.inert = false;
  route(null);
});
