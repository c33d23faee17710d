/** Returns the element with an id. The HTML contains all elements with ids. */
export const byId = (id) => document.getElementById(id);

/**
 * Creates an element: strings are added as text, never as markup.
 *
 * @param {string} name
 * @param {Record<string, unknown>} [attributes] `onclick` and the like are listeners; false and undefined values are
 *   omitted
 * @param {...(Node | string | undefined | false)} content
 */
export function element(name, attributes = {}, ...content) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) created.addEventListener(key.slice(2), value);
    else created.setAttribute(key, value === true ? '' : String(value));
  }
  created.append(...content.flat().filter((part) => part !== undefined && part !== false));
  return created;
}

export const code = (text) => element('code', {}, String(text));
export const cell = (content, className) => element('td', { class: className }, content);
/** Creates a short label in the color of its tone: `plain`, `good`, `warn`, `bad` or `info`. */
export const chip = (text, tone) => element('span', { class: `chip chip-${tone}` }, text);

/** Creates a description list of names and values. */
export function pairs(entries) {
  return element('dl', {}, ...entries.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

const shown = new WeakMap();

/**
 * Shows items in a table. The rows of unchanged items are not replaced, so that the focus, the selection and the scroll
 * position are preserved.
 *
 * @param {string} id of the table's body
 * @param {readonly T[]} items
 * @param {{ key: (item: T) => unknown, cells: (item: T) => readonly Node[], empty: string, columns: number }} how
 * @template T
 */
export function fill(id, items, { key, cells, empty, columns }) {
  const body = byId(id);
  const before = shown.get(body) ?? new Map();
  const now = new Map();
  for (const item of items) {
    const text = JSON.stringify(item);
    const existing = before.get(key(item));
    const row = existing?.text === text ? existing.row : element('tr', { 'data-key': key(item) }, ...cells(item));
    if (existing && existing.row !== row && existing.row.contains(document.activeElement))
      queueMicrotask(() => row.querySelector('a, button')?.focus());
    now.set(key(item), { text, row });
  }
  shown.set(body, now);
  const rows = [...now.values()].map(({ row }) => row);
  if (rows.length === 0) rows.push(element('tr', {}, element('td', { colspan: columns }, empty)));
  for (const row of [...body.children]) if (!rows.includes(row)) row.remove();
  rows.forEach((row, index) => {
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
  });
}

/** Returns a time as `12:34:56.789`. */
export const timeOf = (at) => new Date(at).toISOString().slice(11, 23);

/** Returns a time as `2026-01-31 12:34:56`, in UTC. */
export const dateOf = (at) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** Formats a value as indented JSON. */
export const pretty = (value) => JSON.stringify(value, null, 2);

/** Copies text, and shows on the button whether that succeeded. */
export async function copy(text, button) {
  const before = button.textContent;
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = done ? 'Copied' : 'Copying is not allowed: select the text below';
  setTimeout(() => {
    button.textContent = before;
  }, 2000);
}
