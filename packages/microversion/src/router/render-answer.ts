import type { Version } from '../version.js';
import { at, type Windowed } from '../windowed.js';
import { type Render, renderView } from './render-view.js';
import { kindOf, type ReplyShape } from './reply-shape.js';
import { inTurns } from './turns.js';

function renderShape(shape: ReplyShape, version: Version): Render {
  const known = kindOf(shape);
  if (known.kind === 'view') return renderView(known.view, version);
  if (known.kind === 'schema') return (value) => JSON.stringify(value);
  if (known.kind === 'list') {
    const item = renderShape(known.item, version);
    return (values: readonly unknown[], call) => `[${values.map((value) => item(value, call)).join(',')}]`;
  }
  const fields = fieldsOf(known.fields, version, renderShape);
  return (value, call) => {
    const parts: string[] = [];
    for (const { name, label, render } of fields)
      if (value[name] !== undefined) parts.push(label + render(value[name], call));
    return `{${parts.join(',')}}`;
  };
}

function fieldsOf<R>(
  fields: readonly (readonly [string, Windowed<ReplyShape>])[],
  version: Version,
  rendererOf: (shape: ReplyShape, version: Version) => R,
) {
  return fields.flatMap(([name, windowed]) => {
    const current = at(windowed, version);
    return current ? [{ name, label: `${JSON.stringify(name)}:`, render: rendererOf(current, version) }] : [];
  });
}

/** Text, or bytes where a page of a list is the same as one that was sent lately. */
type Rendered = string | Buffer;

/** Turns a value into an answer. There is a promise to wait for where that takes several turns of the event loop. */
export type RenderAnswer = (value: any, call: any) => Rendered | Promise<Rendered>;

/** Pages that are kept as bytes, and the least number of items that makes that worth while. */
const KEPT_PAGES = 4;
const SMALLEST_KEPT_PAGE = 16;
/** Items that are encoded together. */
const ENCODED_ITEMS = 100;

/** Lists are polled: as long as the text of every item is the same, joining and encoding them is done once. */
function renderPage(item: Render): RenderAnswer {
  const kept: { readonly texts: readonly string[]; readonly bytes: Buffer }[] = [];
  const keep = (texts: readonly string[], bytes: Buffer) => {
    if (kept.unshift({ texts, bytes }) > KEPT_PAGES) kept.pop();
    return bytes;
  };
  const bytesOf = (texts: readonly string[]): Buffer | Promise<Buffer> => {
    const known = kept.find(
      (page) => page.texts.length === texts.length && texts.every((text, i) => text === page.texts[i]),
    );
    if (known) return known.bytes;
    if (texts.length <= ENCODED_ITEMS) return keep(texts, Buffer.from(`[${texts.join(',')}]`));
    return encoded(texts).then((bytes) => keep(texts, bytes));
  };
  return (values: readonly unknown[], call) => {
    if (values.length < SMALLEST_KEPT_PAGE) return `[${values.map((value) => item(value, call)).join(',')}]`;
    const texts: string[] = [];
    const rendering = inTurns(values.length, (index) => texts.push(item(values[index], call)));
    return rendering ? rendering.then(() => bytesOf(texts)) : bytesOf(texts);
  };
}

/** A long page, encoded in parts. */
async function encoded(texts: readonly string[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  const encode = (part: number) => {
    const from = part * ENCODED_ITEMS;
    const text = texts.slice(from, from + ENCODED_ITEMS).join(',');
    parts.push(Buffer.from(part === 0 ? `[${text}` : `,${text}`));
  };
  await inTurns(Math.ceil(texts.length / ENCODED_ITEMS), encode);
  return Buffer.concat([...parts, Buffer.from(']')]);
}

/** Makes the function that writes an answer of a shape at a version. */
export function renderAnswer(shape: ReplyShape, version: Version): RenderAnswer {
  const known = kindOf(shape);
  if (known.kind === 'list') return renderPage(renderShape(known.item, version));
  if (known.kind !== 'object') return renderShape(shape, version);
  const fields = fieldsOf(known.fields, version, renderAnswer);
  const joined = joiner();
  return (value, call) => {
    const parts: Rendered[] = [];
    const left = fields.values();
    /** Writes the fields that are left; nothing else is begun while a part is waited for. */
    const write = (): Rendered | Promise<Rendered> => {
      for (const { name, label, render } of left) {
        if (value[name] === undefined) continue;
        parts.push(`${parts.length === 0 ? '{' : ','}${label}`);
        const rendered = render(value[name], call);
        if (rendered instanceof Promise) {
          return rendered.then((part) => {
            parts.push(part);
            return write();
          });
        }
        parts.push(rendered);
      }
      parts.push(parts.length === 0 ? '{}' : '}');
      return joined(parts);
    };
    return write();
  };
}

/**
 * Puts the parts of an answer together. One with a kept page in it is likely to be asked for again, and then is the same
 * bytes: they are kept as well, instead of copied for each who asks.
 */
function joiner(): (parts: readonly Rendered[]) => Rendered {
  const kept: { readonly parts: readonly Rendered[]; readonly bytes: Buffer }[] = [];
  return (parts) => {
    if (!parts.some((part) => typeof part !== 'string')) return parts.join('');
    const known = kept.find(
      (answer) => answer.parts.length === parts.length && parts.every((part, i) => part === answer.parts[i]),
    );
    if (known) return known.bytes;
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    if (kept.unshift({ parts, bytes }) > KEPT_PAGES) kept.pop();
    return bytes;
  };
}
