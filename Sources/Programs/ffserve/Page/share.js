"use strict";
// The service worker of the page, registered where files can be added. Keeps what other applications share with the installed page
// (Web Share Target) until the page uploads it. All other requests go to the server as without it.

addEventListener("install", (event) => {
  skipWaiting();
  // Browsers that know such rules do not start the worker for what it leaves to the server.
  event.addRoutes?.({ condition: { requestMethod: "GET" }, source: "network" });
});

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "POST" && new URL(url).pathname === new URL("share", registration.scope).pathname) event.respondWith(keep(event.request));
});

/** Keeps the files of a form, or its text as one, instead of those that were shared before. Leads back to the page. */
async function keep(request) {
  const form = await request.formData();
  const files = form.getAll("files").filter((file) => typeof file !== "string");
  const text = ["title", "text", "url"].map((name) => form.get(name)).filter(Boolean).join("\n");
  if (!files.length && text) files.push(new File([text, "\n"], "Shared text.txt"));
  await caches.delete("shared");
  const store = await caches.open("shared");
  for (const [number, file] of files.entries()) {
    const headers = { "X-Name": encodeURIComponent(file.name), "X-Modified": file.lastModified };
    await store.put(`shared/${number}`, new Response(file, { headers }));
  }
  return Response.redirect("./", 303);
}
