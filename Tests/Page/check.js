// Everything that is wrong with the page as it is laid out, as a list of sentences.
(() => {
  const wrong = [];
  const visible = (element) => element.checkVisibility({ visibilityProperty: true });
  const name = (element) =>
    `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} “${
      element.textContent.trim().slice(0, 40)}”`;

  // Nothing is wider than the page; what is wide scrolls in a region of its own.
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    wrong.push(`the page is ${document.documentElement.scrollWidth} wide, not ${width}`);
  const isClipped = (element) =>
    element.closest(".scroll, caption, .skip, .defs, .views > input") !== null;
  for (const element of document.body.querySelectorAll("*")) {
    if (!visible(element) || isClipped(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1))
      wrong.push(`${name(element)} reaches from ${box.left} to ${box.right} of ${width}`);
  }

  // Texts with their places, each in one or more lines.
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || ["STYLE", "title"].includes(parent.tagName)) continue;
    if (!visible(parent) || parent.closest("caption, .skip")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 1 && box.height > 1) texts.push({ box, parent, text: node.data.trim() });
  }

  // No two texts lie on each other.
  texts.sort((left, right) => left.box.top - right.box.top);
  const inside = (text) => text.parent.closest(".scroll");
  for (let i = 0; i < texts.length; i++) {
    for (let j = i + 1; j < texts.length && texts[j].box.top < texts[i].box.bottom; j++) {
      const [one, other] = [texts[i], texts[j]];
      if (inside(one) !== inside(other) || one.parent.closest("th[scope=row]")
        || other.parent.closest("th[scope=row]")) continue;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (across > 1 && down > 4)
        wrong.push(`“${one.text.slice(0, 40)}” lies on “${other.text.slice(0, 40)}”`);
    }
  }

  // Every text has a contrast of 4.5 to what is behind it.
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const seen = new Set();
  for (const { parent, text } of texts) {
    const style = getComputedStyle(parent);
    const colour = parent.tagName === "text" ? style.fill : style.color;
    const back = behind(parent);
    if (seen.has(colour + back)) continue;
    seen.add(colour + back);
    const [low, high] = [luminance(colour), luminance(back)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) wrong.push(`“${text.slice(0, 40)}” has a contrast of ${contrast.toFixed(2)}`);
  }

  // Names, roles and order for who cannot see the page.
  const ids = new Set();
  for (const element of document.querySelectorAll("[id]")) {
    if (ids.has(element.id)) wrong.push(`two elements are #${element.id}`);
    ids.add(element.id);
  }
  for (const part of ["html[lang]", "head > title", "header", "nav[aria-label]", "main", "footer", "h1"])
    if (document.querySelectorAll(part).length !== 1) wrong.push(`not one ${part}`);
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) wrong.push(`${name(heading)} skips a level`);
    level = next;
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption?.textContent.trim()) wrong.push(`${name(table)} has no caption`);
    for (const head of table.querySelectorAll("th"))
      if (!head.scope || !head.textContent.trim()) wrong.push(`${name(head)} heads nothing`);
  }
  for (const image of document.querySelectorAll("svg"))
    if (image.getAttribute("aria-hidden") !== "true"
      && !(image.getAttribute("role") === "img" && image.getAttribute("aria-label")))
      wrong.push(`${name(image)} has neither name nor is hidden`);
  for (const chart of document.querySelectorAll(".chart"))
    if (!chart.closest(".view").querySelector("table")) wrong.push(`${name(chart)} has no table`);
  for (const input of document.querySelectorAll("input"))
    if (!input.labels?.[0]?.textContent.trim()) wrong.push(`an input of ${input.name} has no label`);
  for (const link of document.querySelectorAll("a"))
    if (!link.textContent.trim()) wrong.push(`a link to ${link.href} has no text`);
  for (const region of document.querySelectorAll("[tabindex], [role=region]"))
    if (!region.getAttribute("aria-label")) wrong.push(`${name(region)} has no name`);
  for (const part of document.querySelectorAll("[aria-labelledby]"))
    if (!ids.has(part.getAttribute("aria-labelledby"))) wrong.push(`${name(part)} has no name`);
  return wrong.slice(0, 20);
})()
