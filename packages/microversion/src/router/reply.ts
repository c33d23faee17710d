import { z } from 'zod';
import { type AnySchema, schemaAt, Versioned } from '../schema/index.js';
import type { Version } from '../version.js';
import {
  at,
  breakpointsOf,
  isWindowed,
  mergeBreakpoints,
  PerInterval,
  type Window,
  type Windowed,
  windowsOf,
} from '../windowed.js';
import { View, type ViewField } from './view.js';

/**
 * The shape of an answer's body, for calls of type C: a view, a list of one, a schema for plain values, or an object of such, each field with
 * its windows. What `run` returns has the same outline with records where the views stand.
 */
export type ReplyShape<C = any> =
  | View<any, C>
  | AnySchema
  | readonly [ReplyShape<C>]
  | { readonly [name: string]: Windowed<ReplyShape<C>> };

type Held<W> = W extends readonly Window<infer S>[] ? S : W extends Window<infer S> ? S : W;

type ReplyObject<S> = {
  readonly [K in keyof S as undefined extends ReplyValue<Held<S[K]>> ? never : K]: ReplyValue<Held<S[K]>>;
} & {
  readonly [K in keyof S as undefined extends ReplyValue<Held<S[K]>> ? K : never]?: ReplyValue<Held<S[K]>>;
};

/** What `run` returns for a reply shape. */
export type ReplyValue<S> =
  S extends View<infer R, any>
    ? R
    : S extends Versioned<infer T>
      ? T
      : S extends z.ZodType<any, infer T>
        ? T
        : S extends readonly [infer I]
          ? readonly ReplyValue<I>[]
          : S extends object
            ? ReplyObject<S>
            : never;

type Kind =
  | { readonly kind: 'view'; readonly view: View<any, any> }
  | { readonly kind: 'schema'; readonly schema: AnySchema }
  | { readonly kind: 'list'; readonly item: ReplyShape }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Windowed<ReplyShape>])[] };

function kindOf(shape: ReplyShape): Kind {
  if (shape instanceof View) return { kind: 'view', view: shape };
  if (shape instanceof z.ZodType || shape instanceof Versioned) return { kind: 'schema', schema: shape };
  if (Array.isArray(shape)) return { kind: 'list', item: shape[0] };
  return { kind: 'object', fields: Object.entries(shape as Record<string, Windowed<ReplyShape>>) };
}

function breakpointsIn(shape: ReplyShape): readonly Version[] {
  const known = kindOf(shape);
  if (known.kind === 'view') return known.view.breakpoints;
  if (known.kind === 'schema') return known.schema instanceof Versioned ? known.schema.breakpoints : [];
  if (known.kind === 'list') return breakpointsIn(known.item);
  return known.fields.flatMap(([, field]) => [
    ...breakpointsOf(field),
    ...windowsOf(field).flatMap(({ value }) => breakpointsIn(value)),
  ]);
}

/** Turns a value into the JSON text of an answer. */
export type Render = (value: any, call: any) => string;

type Build = (record: any, call: any) => Record<string, unknown>;

/** Makes the function that picks a view's fields out of a record at a version. */
function buildView(view: View<any, any>, version: Version): Build {
  const steps = view.fieldsAt(version).map(([name, field]) => ({ name, value: fieldValue(field, version) }));
  return (record, call) => {
    const out: Record<string, unknown> = {};
    for (const { name, value } of steps) out[name] = value(record, call);
    return out;
  };
}

function fieldValue({ schema, get }: ViewField<any, any>, version: Version): (record: any, call: any) => unknown {
  if (schema instanceof View) {
    const build = buildView(schema, version);
    return (record, call) => {
      const inner = get(record, call);
      return inner === undefined || inner === null ? inner : build(inner, call);
    };
  }
  if (Array.isArray(schema)) {
    const build = buildView(schema[0], version);
    return (record, call) => (get(record, call) as readonly unknown[] | undefined)?.map((item) => build(item, call));
  }
  return get;
}

function renderView(view: View<any, any>, version: Version): Render {
  const render = renderWhole(view, version);
  const other = view.instead && at(view.instead, version);
  if (!other) return render;
  const renderOther = renderView(other.view, version);
  return (record, call) => (other.when(record, call) ? renderOther : render)(record, call);
}

function renderWhole(view: View<any, any>, version: Version): Render {
  const build = buildView(view, version);
  const { memo } = view;
  const render: Render = (record, call) => JSON.stringify(build(record, call));
  if (!memo) return render;
  const kept = new WeakMap<object, Map<string, string>>();
  let lastCall: unknown;
  let key: string | undefined;
  return (record, call) => {
    // The records of a list share one call, so its key is made once.
    if (call !== lastCall) {
      lastCall = call;
      key = memo(call);
    }
    if (key === undefined) return render(record, call);
    let texts = kept.get(record);
    if (!texts) kept.set(record, (texts = new Map()));
    let text = texts.get(key);
    if (text === undefined) {
      if (texts.size >= 4) texts.clear();
      texts.set(key, (text = render(record, call)));
    }
    return text;
  };
}

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

/** Turns a value into an answer: text, or bytes where a page of a list is the same as one that was sent lately. */
export type RenderAnswer = (value: any, call: any) => string | Buffer;

/** Pages that are kept as bytes, and the least number of items that makes that worth while. */
const KEPT_PAGES = 4;
const SMALLEST_KEPT_PAGE = 16;

/** Lists are polled: as long as the text of every item is the same, joining and encoding them is done once. */
function renderPage(item: Render): RenderAnswer {
  const kept: { readonly texts: readonly string[]; readonly bytes: Buffer }[] = [];
  return (values: readonly unknown[], call) => {
    const texts = values.map((value) => item(value, call));
    if (texts.length < SMALLEST_KEPT_PAGE) return `[${texts.join(',')}]`;
    const known = kept.find(
      (page) => page.texts.length === texts.length && texts.every((text, i) => text === page.texts[i]),
    );
    if (known) return known.bytes;
    const bytes = Buffer.from(`[${texts.join(',')}]`);
    if (kept.unshift({ texts, bytes }) > KEPT_PAGES) kept.pop();
    return bytes;
  };
}

function renderAnswer(shape: ReplyShape, version: Version): RenderAnswer {
  const known = kindOf(shape);
  if (known.kind === 'list') return renderPage(renderShape(known.item, version));
  if (known.kind !== 'object') return renderShape(shape, version);
  const fields = fieldsOf(known.fields, version, renderAnswer);
  return (value, call) => {
    const parts: (string | Buffer)[] = [];
    for (const { name, label, render } of fields) {
      if (value[name] !== undefined) parts.push(`${parts.length === 0 ? '{' : ','}${label}`, render(value[name], call));
    }
    parts.push(parts.length === 0 ? '{}' : '}');
    if (!parts.some((part) => typeof part !== 'string')) return parts.join('');
    return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  };
}

function schemaOfView(view: View<any, any>, version: Version): z.ZodType {
  const fields = view.fieldsAt(version).map(([name, { schema }]) => {
    if (schema instanceof View) return [name, schemaOfView(schema, version).optional()] as const;
    if (Array.isArray(schema)) return [name, schemaOfView(schema[0], version).array().optional()] as const;
    return [name, schemaAt(schema as AnySchema, version)!] as const;
  });
  const whole = z.strictObject(Object.fromEntries(fields));
  const other = view.instead && at(view.instead, version);
  return other ? z.union([whole, schemaOfView(other.view, version)]) : whole;
}

function schemaOfShape(shape: ReplyShape, version: Version): z.ZodType {
  const known = kindOf(shape);
  if (known.kind === 'view') return schemaOfView(known.view, version);
  if (known.kind === 'schema') return schemaAt(known.schema, version)!;
  if (known.kind === 'list') return schemaOfShape(known.item, version).array();
  const fields = known.fields.flatMap(([name, windowed]) => {
    const current = at(windowed, version);
    return current ? [[name, schemaOfShape(current, version)] as const] : [];
  });
  return z.strictObject(Object.fromEntries(fields));
}

/** A reply with a history: its renderer and its schema per interval, built on first use. */
export class Reply {
  readonly breakpoints: readonly Version[];
  readonly #renders: PerInterval<RenderAnswer>;
  readonly #schemas: PerInterval<z.ZodType>;

  constructor(shape: Windowed<ReplyShape>) {
    const shapes = windowsOf(shape).map(({ value }) => value);
    this.breakpoints = mergeBreakpoints([
      ...(isWindowed(shape) ? breakpointsOf(shape) : []),
      ...shapes.flatMap(breakpointsIn),
    ]);
    const present = (version: Version) => at(shape, version) ?? z.undefined();
    this.#renders = new PerInterval(this.breakpoints, (version) => renderAnswer(present(version), version));
    this.#schemas = new PerInterval(this.breakpoints, (version) => schemaOfShape(present(version), version));
  }

  render(version: Version): RenderAnswer {
    return this.#renders.at(version);
  }

  schema(version: Version): z.ZodType {
    return this.#schemas.at(version);
  }
}
