import type { Json } from '@apistrata/microversion-router';

/** An inclusive range of versions. The ends are indexes into the version list. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/** A schema that applies to a range of versions; undefined if the value does not exist in this range. */
export interface VersionSpan extends Span {
  readonly schema: Json | undefined;
}

/** A version range, with the object and array alternatives of its schema, and the types of all other alternatives. */
interface SplitSpan extends VersionSpan {
  readonly structuredSchemas: readonly Json[];
  readonly rest: readonly string[];
  readonly kind: string;
}

interface Field extends Span {
  readonly text: string;
}

function union(texts: readonly string[]): string {
  const distinctTexts = [...new Set(texts)];
  return distinctTexts.includes('unknown') ? 'unknown' : distinctTexts.join(' | ') || 'never';
}

function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function docComment({ description }: Json, indent: string): string {
  if (typeof description !== 'string') return '';
  return `${indent}/** ${description.replace(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n`;
}

function alternatives(schema: Json): readonly Json[] {
  const choices = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined;
  return choices ? choices.flatMap(alternatives) : [schema];
}

const isStructured = ({ type, properties }: Json) =>
  type === 'array' || (type === 'object' && properties !== undefined);

/** Consecutive version ranges with equal values; never empty. */
interface Run<T> {
  readonly start: T;
  end: T;
  readonly items: T[];
}

function groupRuns<T extends Span>(items: readonly T[], isSame: (a: T, b: T) => boolean): readonly Run<T>[] {
  const all: Run<T>[] = [];
  for (const item of items) {
    const run = all.at(-1);
    if (run && run.end.last + 1 === item.first && isSame(run.end, item)) {
      run.items.push(item);
      run.end = item;
    } else all.push({ start: item, end: item, items: [item] });
  }
  return all;
}

/**
 * Generates the TypeScript type of a value whose schema differs between versions. The type depends on the version `V`
 * and uses the helpers `Since`, `Until`, `Between` and `Flat`, which the surrounding module defines.
 */
export class WindowedType {
  readonly #versions: readonly string[];
  readonly #open: boolean;
  readonly #isDocumented: boolean;

  /**
   * @param versions all versions, ascending
   * @param options.open whether types declare additional fields if the schema allows them; set for requests
   */
  constructor(versions: readonly string[], { open = false, documented = true } = {}) {
    this.#versions = versions;
    this.#open = open;
    this.#isDocumented = documented;
  }

  /** Returns the type of a value. `spans` contains its schema for each version range, in ascending order. */
  text(spans: readonly VersionSpan[], indent = ''): string {
    const undocumentedType = this.#isDocumented
      ? new WindowedType(this.#versions, { open: this.#open, documented: false })
      : this;
    const hasChanges =
      spans.length > 1 && new Set(spans.map(({ schema }) => undocumentedType.#typeOfSchema(schema, ''))).size > 1;
    if (!hasChanges) return this.#typeOfSchema(spans.at(-1)?.schema, indent, spans);
    const splitSpans = spans.map((span): SplitSpan => {
      const all = span.schema ? alternatives(span.schema) : [];
      const structuredSchemas = all.filter(isStructured);
      const others = all.filter((one) => !isStructured(one)).map((one) => undocumentedType.#typeOfSchema(one, ''));
      const rest = span.schema ? others : ['undefined'];
      return {
        ...span,
        structuredSchemas,
        rest,
        kind: [...structuredSchemas.map(({ type }) => type), ...rest].join(' | '),
      };
    });
    // Successive ranges whose alternatives have the same kinds share one type, because only the contents of objects
    // and arrays differ.
    return groupRuns(splitSpans, (one, other) => one.kind === other.kind)
      .map((run) => ({ first: run.start.first, text: this.#mergedType(run, indent) }))
      .reduce((before, { first, text }) => ({
        first,
        text: `Since<V, '${this.#versions[first]}', ${text}, ${before.text}>`,
      })).text;
  }

  #mergedType({ start, end, items: run }: Run<SplitSpan>, indent: string): string {
    const { structuredSchemas, rest } = start;
    const fullSpan = { first: start.first, last: end.last };
    const texts = structuredSchemas.map(({ type }, index) => {
      const inner = run.map(({ first, last, structuredSchemas }) => ({
        first,
        last,
        schema: structuredSchemas[index] as Json,
      }));
      if (type === 'object') return this.#object(inner, fullSpan, indent);
      const items = inner.map((one) => ({ ...one, schema: (one.schema.items ?? {}) as Json }));
      return `Array<${this.text(items, indent)}>`;
    });
    return union([...texts, ...rest]);
  }

  #typeOfSchema(schema: Json | undefined, indent: string, { 0: start }: readonly VersionSpan[] = []): string {
    if (schema === undefined) return 'undefined';
    const { type, enum: values, const: only, properties, items, additionalProperties: others } = schema;
    const withSpan = (inner: Json) => ({ first: start?.first ?? 0, last: start?.last ?? 0, schema: inner });
    if (only !== undefined) return JSON.stringify(only);
    if (values) return union((values as unknown[]).map((value) => JSON.stringify(value)));
    const all = alternatives(schema);
    if (all[0] !== schema) return union(all.map((one) => this.#typeOfSchema(one, indent)));
    if (schema.not) return 'never';
    if (Array.isArray(type)) return union(type.map((one) => this.#typeOfSchema({ ...schema, type: one }, indent)));
    if (type === 'array') return `Array<${this.text([withSpan((items ?? {}) as Json)], indent)}>`;
    if (type === 'object') {
      if (properties && Object.keys(properties).length > 0) {
        const fullSpan = withSpan(schema);
        return this.#object([fullSpan], fullSpan, indent);
      }
      if (others === false) return 'Record<string, never>';
      return `Record<string, ${this.text([withSpan((others ?? {}) as Json)], indent)}>`;
    }
    return (
      { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' }[String(type)] ??
      'unknown'
    );
  }

  /** Returns an object type whose fields are grouped by the version window in which they exist. */
  #object(spans: readonly (VersionSpan & { readonly schema: Json })[], fullSpan: Span, indent: string): string {
    const names = new Set(spans.flatMap(({ schema }) => Object.keys((schema.properties ?? {}) as Json)));
    const fieldsOfAllVersions: string[] = [];
    const groups = new Map<string, string[]>();
    for (const name of names) {
      for (const field of this.#fields(name, spans, `${indent}  `)) {
        const window = this.#window(field, fullSpan);
        if (window === '') fieldsOfAllVersions.push(field.text);
        else groups.set(window, [...(groups.get(window) ?? []), field.text]);
      }
    }
    if (this.#open && spans.some(({ schema }) => schema.additionalProperties !== false))
      fieldsOfAllVersions.push(`${indent}  [name: string]: unknown;\n`);
    const shapeOf = (lines: readonly string[]) => `{\n${lines.join('')}${indent}}`;
    if (groups.size === 0) return shapeOf(fieldsOfAllVersions);
    const windowedTypes = [...groups].map(([window, lines]) => `${window}${shapeOf(lines)}>`);
    return `Flat<${[...(fieldsOfAllVersions.length > 0 ? [shapeOf(fieldsOfAllVersions)] : []), ...windowedTypes].join(' & ')}>`;
  }

  #fields(name: string, spans: readonly (VersionSpan & { readonly schema: Json })[], indent: string): Field[] {
    const present = spans.flatMap(({ first, last, schema }) => {
      const inner = (schema.properties as Record<string, Json> | undefined)?.[name];
      const required = ((schema.required as string[] | undefined) ?? []).includes(name);
      return inner ? [{ first, last, schema: inner, required }] : [];
    });
    return groupRuns(present, (one, other) => one.required === other.required).map((run) => {
      const { last, required, schema } = run.end;
      const documentation = this.#isDocumented ? docComment(schema, indent) : '';
      const text = `${documentation}${indent}${propertyKey(name)}${required ? '' : '?'}: ${this.text(run.items, indent)};\n`;
      return { first: run.start.first, last, text };
    });
  }

  /**
   * Returns the beginning of a conditional type that limits fields to a window. Empty if the window covers the full
   * range.
   */
  #window({ first, last }: Span, fullSpan: Span): string {
    const [since, until] = [`'${this.#versions[first]}'`, `'${this.#versions[last]}'`];
    if (first > fullSpan.first) return last < fullSpan.last ? `Between<V, ${since}, ${until}, ` : `Since<V, ${since}, `;
    return last < fullSpan.last ? `Until<V, ${until}, ` : '';
  }
}
