// What is wrong with the page as it stands, for people who see, hear or point otherwise: an expression that gives sentences.
(() => {
  const wrong = [];
  const top = [...document.querySelectorAll("dialog[open]")].at(-1) || document.body;
  const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && element.getClientRects().length > 0;
  const say = (what, element) => wrong.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  const nameOf = (element) => (element.getAttribute("aria-label")
    || (element.getAttribute("aria-labelledby") && document.getElementById(element.getAttribute("aria-labelledby"))?.textContent)
    || [...(element.labels || [])].map((label) => label.textContent).join(" ") || element.textContent.trim() || element.querySelector("img")?.alt || element.title || "").trim();
  for (const element of top.querySelectorAll("button, a[href], input, select, textarea, summary, iframe, video, audio, dialog, nav, [role=region], [role=list], [role=group], [role=toolbar]")) {
    if (!element.hidden && isShown(element) && !nameOf(element)) say("no name", element);
  }
  for (const image of top.querySelectorAll("img")) if (!image.hasAttribute("alt")) say("no alt", image);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) wrong.push(`id ${id} twice`);
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  for (const landmark of ["main", "header", "nav", "h1"]) if (document.querySelectorAll(`body > ${landmark}, body > * ${landmark}`).length < 1) wrong.push(`no ${landmark}`);
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
  for (const element of top.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) say("changes the order of focus", element);
  for (const element of top.querySelectorAll("[aria-hidden=true] a[href], [aria-hidden=true] button")) say("hidden but reachable", element);
  if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push(`wider than the window by ${document.documentElement.scrollWidth - innerWidth}`);

  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g)?.map(Number) || [0, 0, 0, 0];
    return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
  };
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { rgb, alpha } = parse(getComputedStyle(one).backgroundColor);
      if (alpha > 0.95) return rgb;
      if (one.tagName === "DIALOG") break;
    }
    return [255, 255, 255];
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode() && count < 1500) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.nodeValue.trim() || !isShown(element) || element.closest("[disabled], symbol, option, script, noscript, .quiet, .skip")) continue;
    count++;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const found = contrast(parse(style.color).rgb, groundOf(element));
    if (found < needed) say(`contrast ${found.toFixed(2)} < ${needed}`, element);
  }
  for (const element of top.querySelectorAll("button, select, summary, .chip")) {
    if (!isShown(element) || element.closest(".prose, table")) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 20 || box.height < 20) say(`small target ${Math.round(box.width)}x${Math.round(box.height)}`, element);
    const glyph = element.querySelector("svg");
    if (glyph && !element.disabled && isShown(glyph) && contrast(parse(getComputedStyle(glyph).color).rgb, groundOf(element)) < 3) say("pale icon", element);
  }
  return wrong.slice(0, 20);
})()
