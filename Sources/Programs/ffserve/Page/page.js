"use strict";

// Shows a folder: a list of links, until the page is made.
async function show(path) {
  const main = document.getElementById("main");
  const answer = await fetch("/api/list?path=" + encodeURIComponent(path));
  const listing = await answer.json();
  main.setAttribute("aria-busy", "false");
  if (!answer.ok) { main.textContent = listing.detail || listing.title; return; }
  const list = document.createElement("ul");
  for (const item of listing.items) {
    const link = document.createElement("a");
    const own = (listing.path === "/" ? "" : listing.path) + "/" + item.name;
    link.textContent = item.name;
    link.href = item.type === "directory"
      ? "#" + encodeURIComponent(own) : "/api/file?path=" + (item.encodedPath || encodeURIComponent(own));
    const row = document.createElement("li");
    row.append(link);
    list.append(row);
  }
  main.replaceChildren(list);
}

const here = () => decodeURIComponent(location.hash.slice(1)) || "/";
addEventListener("hashchange", () => show(here()));
show(here());
