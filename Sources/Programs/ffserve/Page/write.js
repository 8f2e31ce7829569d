"use strict";
// Changes of the tree, where the server permits them: uploads, new folders, renaming, moving and deleting, and the selection of
// several entries. Uses the elements and functions of page.js.

const writing = {
  hasSelection: false, selected: new Map(), batches: 0,
  /** The account, and the name of the root. Null until they are known. */
  session: null,
  /** Whether entries of the folder can be renamed, moved and removed. */
  get isAllowed() { return Boolean(listing.rights?.includes("write")); },
  /** Whether files can be added to the folder. */
  get canAdd() { return Boolean(listing.rights?.includes("drop")); },
};

writing.showRights = () => {
  $("add").title = writing.canAdd ? "Add or select" : "Select";
  // Without HTTPS, only a page of this machine can have a service worker.
  if (writing.canAdd) navigator.serviceWorker?.register("share.js").catch(() => {});
};

/** Returns the part of the options that tells who is signed in. */
writing.account = () => {
  const session = writing.session;
  const links = session?.canShare ? [make("h3", {}, "Links for others"),
    make("div.buttons", {}, make("button.button", { type: "button", click: showLinks }, icon("link"), "Show all links"))] : [];
  if (!session?.canSignOut) return links;
  return [...links, make("h3", {}, session.name ? `Signed in as ${session.name}` : "Signed in"),
    make("form", { method: "post", action: "logout" }, make("button.button", { type: "submit" }, "Sign out"))];
};

/** Sends a request that changes something. Throws a Failure with the server's reason. */
async function change(method, url, headers = {}) {
  return answerOf(url, undefined, { method, headers });
}

/** Shows the folder as it is now, without moving the list. */
async function refresh() {
  if (listing.isSearch || listing.path === null || isSearching()) return;
  const path = listing.path;
  const answer = await ask("list", path);
  listing.rights = answer.rights;
  if (listing.path !== path || listing.isSearch || isSearching()) return;
  const items = answer.items.map((item) => entry(item, path));
  const state = (item) => [item.path, item.type, item.size, item.estimate, item.modified].join();
  if (items.length === listing.all.length && items.every((item, place) => state(item) === state(listing.all[place]))) return;
  const top = scroller.scrollTop;
  const hadFocus = list.contains(document.activeElement);
  const names = new Set(answer.items.map((item) => item.name));
  for (const [own, item] of writing.selected) if (!names.has(item.name)) writing.selected.delete(own);
  listing.set(items, listing.currentItem?.path);
  scroller.scrollTop = top;
  listing.draw();
  if (hadFocus) listing.rows.get(listing.current)?.firstChild.focus({ preventScroll: true });
  showSelection();
}

/** Does something, and says what went wrong. */
async function attempt(action) {
  try { await action(); } catch (error) { toast(error.detail || error.title || String(error)); }
  await refresh().catch(() => {});
}

/** Asks for a name. Returns null if the user cancels. */
function askName(title, label, value, action) {
  return new Promise((resolve) => {
    let result = null;
    const field = make("input.field", { type: "text", name: "name", value, "aria-label": label, autocomplete: "off", spellcheck: "false", required: true });
    const form = make("form.body", { method: "dialog", submit: () => { result = field.value; } }, field,
      make("div.buttons", {}, make("button.button.main", { type: "submit" }, action),
        make("button.button", { type: "button", click: () => box.close() }, "Cancel")));
    const box = dialog("sheet", title, head(title, () => box.close()), form);
    box.addEventListener("close", () => resolve(result === null || result === "" ? null : result));
    const dot = value.lastIndexOf(".");
    field.focus();
    field.setSelectionRange(0, dot > 0 ? dot : value.length);
  });
}

/** Asks which of several actions to take. Returns null if the user cancels. */
function askChoice(title, text, choices) {
  return new Promise((resolve) => {
    let result = null;
    const box = dialog("sheet", title, head(title, () => box.close()), make("div.body", {}, make("p", {}, text),
      make("div.buttons", {}, ...choices.map(([value, label], place) => make("button.button" + (place ? "" : ".main"), {
        type: "button", click: () => { result = value; box.close(); },
      }, label)))));
    box.addEventListener("close", () => resolve(result));
  });
}

// MARK: Folders, names, the trash

async function newFolder() {
  const name = await askName("New folder", "Name of the folder", "New folder", "Create");
  if (name === null) return;
  await attempt(async () => {
    await change("MKCOL", davURL(join(listing.path, encode(name))) + "/");
    toast(`“${name}” was created`);
  });
}

async function rename(item) {
  const name = await askName("Rename", "New name", item.name, "Rename");
  if (name === null || name === item.name) return;
  await attempt(() => moveTo([item], parentOf(item.path), name));
}

async function move(items) {
  const target = await askName(items.length === 1 ? `Move “${items[0].name}”` : `Move ${plural(items.length, "item")}`,
    "Folder to move to", decode(listing.path), "Move");
  if (target === null) return;
  const path = "/" + target.split("/").filter(Boolean).map(encode).join("/");
  await attempt(async () => {
    await moveTo(items, path);
    toast(`Moved to ${decode(path)}`);
    endSelection();
  });
}

async function moveTo(items, folder, name) {
  for (const item of items) {
    const target = join(folder, name === undefined ? item.path.slice(item.path.lastIndexOf("/") + 1) : encode(name));
    const url = new URL(davURL(target), document.baseURI);
    await change("MOVE", davURL(item.path), { Destination: url.pathname, Overwrite: "F" });
  }
}

async function remove(items) {
  const what = items.length === 1 ? `“${items[0].name}”` : plural(items.length, "item");
  await attempt(async () => {
    const kept = [];
    let gone = 0;
    for (const item of items) {
      const answer = await (await change("DELETE", fileURL(item.path))).json();
      if (answer.item) kept.push(answer.item);
      else gone++;
    }
    endSelection();
    if (gone) return toast(`${what} ${items.length === 1 ? "was" : "were"} deleted`);
    toast(`${what} moved to the trash`, "Undo", () => attempt(async () => {
      for (const item of kept) await change("POST", "api/restore?item=" + encode(item));
      toast("Restored");
    }));
  });
}

/** Returns the buttons of the dialog about an entry that change it. */
writing.actions = (item, close) => {
  if (!writing.isAllowed || item.view || item.path === "/" || listing.isSearch || item.path === listing.path) return [];
  const button = (symbol, label, action) => make("button.button", { type: "button", click: () => { close(); action(); } }, icon(symbol), label);
  return [button("pen", "Rename", () => rename(item)), button("next", "Move", () => move([item])), button("trash", "Delete", () => remove([item]))];
};

// MARK: Links for others

const durations = [["3600", "An hour"], ["86400", "A day"], ["604800", "A week"], ["2592000", "A month"], ["", "Until it is removed"]];

/** Returns the sentence about a link, such as "until tomorrow · opened 3 times". */
function linkText(link) {
  const until = link.until ? "until " + new Date(link.until).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "without an end";
  const rights = { read: "view", "read drop": "view and add", drop: "add only" }[link.rights.join(" ")] || "change";
  return [rights, until, link.hasPassword && "password", (link.opened ? `opened ${plural(link.opened, "time")}` : "not opened yet") + (link.opens ? ` of ${link.opens}` : "")]
    .filter(Boolean).join(" · ");
}

/** Returns the list of the links in a folder or to a file; all if there is no path. */
async function linksOf(path) {
  const { links } = await (await answerOf("api/shares")).json();
  const shown = links.filter((link) => path === undefined || link.path === decode(path));
  if (!shown.length) return path === undefined ? [make("p.quietly", {}, "No links have been made.")] : [];
  const rows = shown.map((link) => {
    const row = make("li", {}, make("span", {}, make("strong", { dir: "auto" }, link.path), make("small", {}, linkText(link))),
      tool("trash", `Remove the link to ${link.path}`, "", async () => {
        try {
          await change("DELETE", "api/shares?name=" + encode(link.name));
          row.remove();
          toast("The link was removed");
        } catch (error) { toast(error.detail || error.title); }
      }));
    return row;
  });
  return [path === undefined ? "" : make("h3", {}, "Links to it"), make("ul.links", {}, ...rows)];
}

/** Makes a link to an entry for others, which shows them nothing else. */
writing.share = (item) => {
  const close = () => box.close();
  const until = make("select.field", { name: "until" }, ...durations.map(([value, label]) => make("option", { value, selected: value === "86400" }, label)));
  const rights = make("select.field", { name: "rights" },
    ...[["read", "View"], ["read+drop", "View and add files"], ["drop", "Add files only"]].map(([value, label]) => make("option", { value }, label)));
  const password = make("input.field", { type: "text", name: "secret", autocomplete: "off", autocapitalize: "off", spellcheck: "false", minlength: "8", placeholder: "None" });
  const known = make("section", {});
  const fill = () => linksOf(item.path).then((parts) => known.replaceChildren(...parts), () => {});
  const result = make("div.result", { role: "status" });
  const labelled = (text, field) => make("label.labelled", {}, make("span", {}, text), field);
  const mayAdd = item.type === "directory" && !item.view && writing.canAdd;
  const form = make("form.body", { submit: async (event) => {
    event.preventDefault();
    const more = `&rights=${encode(mayAdd ? rights.value : "read")}` + (until.value && `&seconds=${until.value}`);
    try {
      const answer = await answerOf(call("shares", item.path, more), undefined, { method: "POST", body: new URLSearchParams({ password: password.value }) });
      const url = new URL((await answer.json()).address, document.baseURI).href;
      const show = navigator.share && make("button.button", { type: "button", click: () => navigator.share({ title: item.name, url }).catch(() => {}) }, icon("share"), "Send");
      result.replaceChildren(make("p.path", {}, make("code", {}, url)),
        make("div.buttons", {}, make("button.button.main", { type: "button", click: () => copy(url) }, icon("copy"), "Copy"), ...(show ? [show] : [])));
      fill();
    } catch (error) { toast(error.detail || error.title); }
  } }, labelled("Valid for", until), mayAdd && labelled("Others may", rights), labelled("Password", password),
  make("div.buttons", {}, make("button.button.main", { type: "submit" }, icon("link"), "Make a link")), result, known);
  const box = dialog("sheet", "Share", head(`Share “${item.title || item.name}”`, close), form);
  fill();
  until.focus();
};

/** Shows all links that the account has made. */
async function showLinks() {
  const body = make("div.body", {});
  const box = dialog("sheet", "Links", head("Links for others", () => box.close()), body);
  try { body.replaceChildren(...await linksOf()); } catch (error) { body.replaceChildren(make("p", {}, error.detail || error.title)); }
}

// MARK: Selection

function toggle(item) {
  if (!item || listing.isSearch) return;
  if (writing.selected.has(item.path)) writing.selected.delete(item.path);
  else writing.selected.set(item.path, item);
  writing.hasSelection = true;
  showSelection();
}

function endSelection() {
  writing.selected.clear();
  writing.hasSelection = false;
  showSelection();
}

function selectAll() {
  for (const item of listing.shown) if (!item.view) writing.selected.set(item.path, item);
  writing.hasSelection = true;
  showSelection();
}

/** Marks a row as selected or not. In a selection, a click selects instead of opening. */
writing.mark = (row, item) => {
  const isSelected = writing.selected.has(item.path);
  row.classList.toggle("selected", isSelected);
  row.querySelector(".picker")?.remove();
  if (!writing.hasSelection || item.view) return;
  const box = make("input.picker", { type: "checkbox", checked: isSelected, "aria-label": `Select ${item.name}`, change: () => toggle(item) });
  row.append(box);
};

function showSelection() {
  $("main").toggleAttribute("data-selecting", writing.hasSelection);
  for (const [place, row] of listing.rows) if (listing.shown[place]) writing.mark(row, listing.shown[place]);
  $("selection")?.remove();
  if (!writing.hasSelection) return;
  const items = [...writing.selected.values()];
  const button = (symbol, label, action) => make("button.button", { type: "button", disabled: !items.length, click: action }, icon(symbol), make("span", {}, label));
  const names = items.map((item) => "&name=" + item.path.slice(item.path.lastIndexOf("/") + 1).replaceAll("+", "%2B")).join("");
  $("main").append(make("div.selection", { id: "selection", role: "toolbar", "aria-label": "Selection" },
    make("strong", {}, items.length ? `${items.length.toLocaleString()} selected` : "Select entries"),
    button("download", "ZIP", () => {
      const link = make("a", { href: call("zip", listing.path, names), download: "" });
      document.body.append(link);
      link.click();
      link.remove();
    }),
    writing.isAllowed && button("next", "Move", () => move(items)), writing.isAllowed && button("trash", "Delete", () => remove(items)),
    make("button.button", { type: "button", click: selectAll }, "All"), make("button.button", { type: "button", click: endSelection }, "Done")));
}

list.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (!row || event.target.closest("button, .picker")) return;
  if (!writing.hasSelection && !event.ctrlKey && !event.metaKey) return;
  const item = listing.shown[row.dataset.place];
  if (item.view) return;
  event.preventDefault();
  toggle(item);
});

// MARK: Uploads

/** An upload by the tus protocol. It continues after an interruption, also after the page was closed. */
class Upload {
  constructor(file, path) {
    Object.assign(this, { file, path, done: 0, request: null, isCancelled: false });
    this.key = `ffmount.upload.${path}.${file.size}.${file.lastModified}`;
  }

  get kept() { try { return localStorage.getItem(this.key); } catch { return null; } }
  keep(address) {
    try { if (address) localStorage.setItem(this.key, address); else localStorage.removeItem(this.key); } catch { /* Not resumed later. */ }
  }

  /** Sends the file, and tries again after interruptions. Throws a Failure that another attempt would not change. */
  async run(replaces, progress) {
    let address = this.kept;
    let waits = 0;
    for (;;) {
      if (this.isCancelled) return;
      try {
        if (!address) {
          const answer = await change("POST", call("uploads", this.path, replaces ? "&replace=1" : ""), { "Tus-Resumable": "1.0.0", "Upload-Length": this.file.size });
          address = "api/" + answer.headers.get("location").split("/api/")[1];
          this.keep(address);
          if (!this.file.size) break;
        }
        const state = await change("HEAD", address, { "Tus-Resumable": "1.0.0" });
        this.done = Number(state.headers.get("upload-offset"));
        progress();
        await this.send(address, progress);
        break;
      } catch (error) {
        if (this.isCancelled) return;
        if (error.status === 404 && address) {
          // The upload was removed, or its file is complete.
          address = null;
          this.keep(null);
          if (waits++ < 2) continue;
        }
        const mayPass = !error.status || [423, 429, 502, 503, 504].includes(error.status) || error.status === 409 && address;
        if (!mayPass || waits++ > 8) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(15000, 500 * 2 ** waits)));
      }
    }
    this.done = this.file.size;
    this.keep(null);
  }

  send(address, progress) {
    return new Promise((resolve, reject) => {
      const request = this.request = new XMLHttpRequest();
      const start = this.done;
      request.open("PATCH", address);
      request.setRequestHeader("Tus-Resumable", "1.0.0");
      request.setRequestHeader("Upload-Offset", start);
      request.setRequestHeader("Content-Type", "application/offset+octet-stream");
      request.upload.addEventListener("progress", (event) => { this.done = start + event.loaded; progress(); });
      request.addEventListener("load", () => {
        if (request.status < 300) return resolve();
        let problem = {};
        try { problem = JSON.parse(request.responseText); } catch { /* The response has no reason. */ }
        reject(new Failure(problem.title || "The upload failed", problem.detail || "", request.status));
      });
      request.addEventListener("error", () => reject(new Failure("The server cannot be reached", "", 0)));
      request.addEventListener("abort", () => reject(new Failure("Cancelled", "", 0)));
      request.send(this.file.slice(start));
    });
  }

  cancel() {
    this.isCancelled = true;
    this.request?.abort();
    if (this.kept) change("DELETE", this.kept, { "Tus-Resumable": "1.0.0" }).catch(() => {});
    this.keep(null);
  }
}

/** Uploads files, three at a time, with a panel that shows the progress. `files` are pairs of a file and its path below the folder. */
async function upload(files) {
  if (!files.length || listing.path === null) return;
  const folder = listing.path;
  const existing = new Set(listing.all.map((item) => item.name));
  const clashes = files.filter(([, path]) => existing.has(path.split("/")[0]) && !path.includes("/")).length;
  let choice = "replace";
  if (clashes) {
    choice = await askChoice(`${plural(clashes, "name")} ${clashes === 1 ? "exists" : "exist"} already`, "Files in folders that exist are replaced.",
      [["both", "Keep both"], ["replace", "Replace"], ["skip", "Skip"]]);
    if (choice === null) return;
  }
  const free = (name) => {
    const dot = name.lastIndexOf(".") > 0 ? name.lastIndexOf(".") : name.length;
    let number = 1;
    while (existing.has(`${name.slice(0, dot)} (${number})${name.slice(dot)}`)) number++;
    return `${name.slice(0, dot)} (${number})${name.slice(dot)}`;
  };
  const uploads = files.flatMap(([file, path]) => {
    const isClash = existing.has(path) && !path.includes("/");
    if (isClash && choice === "skip") return [];
    const own = isClash && choice === "both" ? free(path) : path;
    existing.add(own);
    return [new Upload(file, join(folder, own.split("/").map(encode).join("/")))];
  });
  if (!uploads.length) return;
  const total = uploads.reduce((sum, one) => sum + one.file.size, 0);
  const bar = make("progress", { max: Math.max(1, total), value: 0, "aria-label": "Progress of the upload" });
  const label = make("span", {}, "");
  const cancel = () => { for (const one of uploads) one.cancel(); panel.remove(); };
  const panel = make("div.upload", { role: "status" }, make("header", {}, label, tool("close", "Cancel the upload", "", cancel)), bar);
  $("uploads").append(panel);
  let finished = 0;
  const wrong = [];
  const progress = () => {
    const done = uploads.reduce((sum, one) => sum + one.done, 0);
    bar.value = total ? done : finished;
    label.textContent = `Uploading ${plural(uploads.length, "file")} · ${bytesText(done)} of ${bytesText(total)}`;
  };
  progress();
  const queue = [...uploads];
  await Promise.all(Array.from({ length: 3 }, async () => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      try { await one.run(choice === "replace" || one.path.slice(folder.length + 1).includes("/"), progress); } catch (error) { wrong.push([one, error]); }
      finished++;
      progress();
    }
  }));
  panel.remove();
  await refresh().catch(() => {});
  if (uploads.some((one) => one.isCancelled)) return toast("The upload was cancelled");
  if (!wrong.length) return toast(`${plural(uploads.length, "file")} uploaded`);
  const [one, error] = wrong[0];
  const text = `${decode(lastOf(one.path))}: ${error.detail || error.title}` + (wrong.length > 1 ? ` (and ${wrong.length - 1} more)` : "");
  toast(text, "Try again", () => upload(wrong.map(([one]) => [one.file, decode(one.path.slice(folder.length + (folder === "/" ? 0 : 1)))])));
}

/** Returns the files of what was dropped, with those in folders. */
async function filesOf(transfer) {
  const files = [];
  const walk = async (node, path) => {
    if (node.isFile) return files.push([await new Promise((resolve, reject) => node.file(resolve, reject)), path]);
    const reader = node.createReader();
    for (;;) {
      const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!entries.length) return;
      for (const own of entries) await walk(own, `${path}/${own.name}`);
    }
  };
  const nodes = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!nodes.length) return [...transfer.files].map((file) => [file, file.name]);
  for (const node of nodes) await walk(node, node.name);
  return files;
}

function pick(isFolder) {
  const field = make("input", { type: "file", multiple: true, webkitdirectory: isFolder, class: "offscreen", "aria-hidden": "true", tabindex: "-1" });
  field.addEventListener("change", () => {
    upload([...field.files].map((file) => [file, file.webkitRelativePath || file.name]));
    field.remove();
  });
  field.addEventListener("cancel", () => field.remove());
  document.body.append(field);
  field.click();
}

function showAdd() {
  const choice = (symbol, label, action) => make("button.button", { type: "button", click: () => { box.close(); action(); } }, icon(symbol), label);
  const parts = writing.canAdd
    ? [choice("up", "Upload files", () => pick(false)), choice("folder", "Upload a folder", () => pick(true)), choice("plus", "New folder", newFolder)] : [];
  const box = dialog("sheet", "Add or select", head("Add or select", () => box.close()), make("div.body", {},
    make("div.buttons.column", {}, ...parts, choice("check", "Select entries", () => { writing.hasSelection = true; showSelection(); })),
    writing.canAdd ? make("p.quietly", {}, "Files and folders can also be dropped on the page.") : null));
}

const isDropTarget = (event) => writing.canAdd && !listing.isSearch && !viewer.isOpen && event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => {
  if (!isDropTarget(event)) return;
  event.preventDefault();
  $("main").classList.add("dropping");
});
addEventListener("dragleave", (event) => { if (!event.relatedTarget) $("main").classList.remove("dropping"); });
addEventListener("drop", (event) => {
  $("main").classList.remove("dropping");
  if (!isDropTarget(event)) return;
  event.preventDefault();
  filesOf(event.dataTransfer).then(upload, (error) => toast(String(error)));
});
document.addEventListener("paste", (event) => {
  if (event.target.closest("input, textarea") || !writing.canAdd || !event.clipboardData?.files.length) return;
  event.preventDefault();
  upload([...event.clipboardData.files].map((file) => [file, file.name]));
});

/** Offers to upload what another application has shared with the page. share.js keeps it. */
async function showShared() {
  if (!await caches.has("shared")) return;
  const store = await caches.open("shared");
  const kept = await store.keys();
  if (!kept.length) return;
  const discard = () => { panel.remove(); caches.delete("shared"); };
  const add = async () => {
    if (!writing.canAdd) return toast("Files cannot be added to this folder");
    panel.remove();
    const files = await Promise.all(kept.map(async (request) => {
      const answer = await store.match(request);
      const modified = Number(answer.headers.get("X-Modified"));
      return new File([await answer.blob()], decode(answer.headers.get("X-Name")), { lastModified: modified });
    }));
    await upload(files.map((file) => [file, file.name]));
    caches.delete("shared");
  };
  const panel = make("div.upload", { role: "status" },
    make("header", {}, make("span", {}, `${plural(kept.length, "file")} shared`), tool("close", "Discard the shared files", "", discard)),
    make("button.button.main", { type: "button", click: add }, icon("up"), "Upload to this folder"));
  $("uploads").append(panel);
}
if (globalThis.caches) showShared().catch(() => {});

addEventListener("hashchange", () => { if (writing.hasSelection) endSelection(); });
$("add").addEventListener("click", showAdd);

answerOf("api/session").then(async (answer) => {
  writing.session = await answer.json();
  if (listing.path !== "/") return;
  listing.rootName = writing.session.root;
  showCrumbs("/");
}, () => {});
