import { at, type Version, type Windowed } from '@apistrata/microversion';
import { type Render, renderView } from './render-view.js';
import { kindOf, type ReplyShape } from './reply-shape.js';
import { runInSlices } from './run-in-slices.js';

function renderShape(shape: ReplyShape, version: Version): Render {
  const kind = kindOf(shape);
  if (kind.kind === 'view') return renderView(kind.view, version);
  if (kind.kind === 'schema') return (value) => JSON.stringify(value);
  if (kind.kind === 'list') {
    const item = renderShape(kind.item, version);
    return (values: readonly unknown[], call) => `[${values.map((value) => item(value, call)).join(',')}]`;
  }
  const fields = fieldsOf(kind.fields, version, renderShape);
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
    const currentShape = at(windowed, version);
    return currentShape ? [{ name, label: `${JSON.stringify(name)}:`, render: rendererOf(currentShape, version) }] : [];
  });
}

/** A rendered value: a string, or the encoded bytes of a list page, which may be cached. */
type RenderedValue = string | Buffer;

/** Renders a value as a response body. Returns a promise if rendering yields to the event loop. */
export type RenderResponse = (value: any, call: any) => RenderedValue | Promise<RenderedValue>;

/** The maximum number of list pages that are cached as bytes, and the minimum number of items on such a page. */
const MAX_CACHED_PAGES = 4;
const MIN_CACHED_PAGE_LENGTH = 16;
/** The number of list items that are encoded together. */
const ITEMS_PER_CHUNK = 100;

/**
 * Returns a function that renders a list page. Clients poll lists, so the bytes of a page are cached while its items
 * are unchanged.
 */
function renderPage(item: Render): RenderResponse {
  const cached: { readonly texts: readonly string[]; readonly bytes: Buffer }[] = [];
  const storePage = (texts: readonly string[], bytes: Buffer) => {
    if (cached.unshift({ texts, bytes }) > MAX_CACHED_PAGES) cached.pop();
    return bytes;
  };
  const pageBytes = (texts: readonly string[]): Buffer | Promise<Buffer> => {
    const existing = cached.find(
      (page) => page.texts.length === texts.length && texts.every((text, i) => text === page.texts[i]),
    );
    if (existing) return existing.bytes;
    if (texts.length <= ITEMS_PER_CHUNK) return storePage(texts, Buffer.from(`[${texts.join(',')}]`));
    return encodeTexts(texts).then((bytes) => storePage(texts, bytes));
  };
  return (values: readonly unknown[], call) => {
    if (values.length < MIN_CACHED_PAGE_LENGTH) return `[${values.map((value) => item(value, call)).join(',')}]`;
    const texts: string[] = [];
    const rendering = runInSlices(values.length, (index) => texts.push(item(values[index], call)));
    return rendering ? rendering.then(() => pageBytes(texts)) : pageBytes(texts);
  };
}

/** Encodes a long list page in parts, and yields to the event loop between them. */
async function encodeTexts(texts: readonly string[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  const encode = (part: number) => {
    const from = part * ITEMS_PER_CHUNK;
    const text = texts.slice(from, from + ITEMS_PER_CHUNK).join(',');
    parts.push(Buffer.from(part === 0 ? `[${text}` : `,${text}`));
  };
  await runInSlices(Math.ceil(texts.length / ITEMS_PER_CHUNK), encode);
  return Buffer.concat([...parts, Buffer.from(']')]);
}

/** Returns the function that renders response bodies of a shape at a version. */
export function renderResponse(shape: ReplyShape, version: Version): RenderResponse {
  const kind = kindOf(shape);
  if (kind.kind === 'list') return renderPage(renderShape(kind.item, version));
  if (kind.kind !== 'object') return renderShape(shape, version);
  const fields = fieldsOf(kind.fields, version, renderResponse);
  const joinParts = createCachedJoiner();
  return (value, call) => {
    const parts: RenderedValue[] = [];
    const remainingFields = fields.values();
    /** Renders the remaining fields of the response one after the other. */
    const writeFields = (): RenderedValue | Promise<RenderedValue> => {
      for (const { name, label, render } of remainingFields) {
        if (value[name] === undefined) continue;
        parts.push(`${parts.length === 0 ? '{' : ','}${label}`);
        const rendered = render(value[name], call);
        if (rendered instanceof Promise) {
          return rendered.then((part) => {
            parts.push(part);
            return writeFields();
          });
        }
        parts.push(rendered);
      }
      parts.push(parts.length === 0 ? '{}' : '}');
      return joinParts(parts);
    };
    return writeFields();
  };
}

/**
 * Returns a function that joins the parts of a response body. A body that contains a cached page is likely to be
 * requested again unchanged, so its bytes are cached as well and not copied for each request.
 */
function createCachedJoiner(): (parts: readonly RenderedValue[]) => RenderedValue {
  const cached: { readonly parts: readonly RenderedValue[]; readonly bytes: Buffer }[] = [];
  return (parts) => {
    if (!parts.some((part) => typeof part !== 'string')) return parts.join('');
    const existing = cached.find(
      (response) => response.parts.length === parts.length && parts.every((part, i) => part === response.parts[i]),
    );
    if (existing) return existing.bytes;
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    if (cached.unshift({ parts, bytes }) > MAX_CACHED_PAGES) cached.pop();
    return bytes;
  };
}
