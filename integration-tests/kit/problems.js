// What cannot be read on a page, a line each: what is too wide, cut off, too small, one on top of another, or too pale.
(below) => {
  const found = [];
  const roots = [...document.querySelectorAll(below)];
  const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const text = (it) => JSON.stringify(it.textContent.trim().slice(0, 40));
  const box = (it) => it.getBoundingClientRect();
  const inside = (inner, outer) =>
    inner.left >= outer.left - 1 && inner.right <= outer.right + 1 && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
  const overlap = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const scrolls = (it) => {
    for (let at = it; at && at !== document.body; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };

  const colour = (name) => {
    const probe = document.createElement("i");
    probe.style.color = name;
    document.body.append(probe);
    const parts = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    probe.remove();
    return parts;
  };
  const brightness = (parts) => {
    const [red, green, blue] = parts.map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (it) => {
    for (let at = it; at; at = at.parentElement) {
      const parts = colour(getComputedStyle(at).backgroundColor);
      if (parts.length === 3 || parts[3] === 1) return parts;
    }
    return colour("Canvas");
  };
  const contrast = (it, ink) => {
    const [dark, light] = [brightness(colour(ink)), brightness(behind(it))].sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  };

  if (!roots.length) found.push(`nothing is ${below}`);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} wide, the window ${root.clientWidth}`);

  for (const picture of all("svg[role=img]")) {
    const whole = box(picture);
    const name = picture.getAttribute("aria-label");
    if (whole.width < 400 || whole.height < 100) found.push(`${name}: only ${whole.width} x ${whole.height}`);
    if (whole.left < 0 || whole.right > root.clientWidth) found.push(`${name}: reaches out of the window`);
    const words = [...picture.querySelectorAll("text")];
    if (!words.length) found.push(`${name}: without words`);
    words.forEach((word, number) => {
      const place = box(word);
      if (!inside(place, whole)) found.push(`${name}: ${text(word)} is cut off`);
      if (Math.min(place.width, place.height) < 6 || place.height < 11) found.push(`${name}: ${text(word)} is too small`);
      if (contrast(picture, getComputedStyle(word).fill) < 4.5) found.push(`${name}: ${text(word)} is too pale`);
      for (const other of words.slice(number + 1))
        if (overlap(place, box(other))) found.push(`${name}: ${text(word)} and ${text(other)} overlap`);
    });
  }

  for (const row of all("tr")) {
    const cells = [...row.cells];
    cells.forEach((cell, number) => {
      if (cell.scrollWidth > cell.clientWidth + 1) found.push(`cell ${text(cell)} is cut off`);
      if (box(cell).right > root.clientWidth && !scrolls(cell)) found.push(`cell ${text(cell)} is out of the window`);
      if (cell.textContent.trim() && contrast(cell, getComputedStyle(cell).color) < 4.5) found.push(`cell ${text(cell)} is too pale`);
      if (cells.slice(number + 1).some((other) => overlap(box(cell), box(other)))) found.push(`cell ${text(cell)} overlaps`);
    });
  }

  for (const block of all("h1, h2, h4, p, li")) {
    if (block.scrollWidth > block.clientWidth + 1 && !scrolls(block)) found.push(`${text(block)} is cut off`);
  }
  return found;
}
