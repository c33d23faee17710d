import { at, type Version } from '@apistrata/microversion';
import { jsonText } from './json-text.js';
import { View, type ViewField } from './view.js';

/** Renders a record as a JSON string. */
export type Render = (record: any, call: any) => string;

/** Renders a field as a JSON string, or returns undefined to omit the field. */
type RenderField = (record: any, call: any) => string | undefined;

/** Returns the function that renders the fields of a view at a version. */
function renderFields(view: View<any, any>, version: Version): Render {
  const fields = view.fieldsAt(version).map(([name, field]) => {
    const label = `${JSON.stringify(name)}:`;
    return { first: `{${label}`, later: `,${label}`, render: renderField(field, version) };
  });
  return (record, call) => {
    // Joined instead of concatenated, because a concatenated string retains all of its parts while it is cached.
    const parts: string[] = [];
    for (const { first, later, render } of fields) {
      const text = render(record, call);
      if (text !== undefined) parts.push(parts.length === 0 ? first : later, text);
    }
    parts.push(parts.length === 0 ? '{}' : '}');
    return parts.join('');
  };
}

function renderField({ schema, get }: ViewField<any, any>, version: Version): RenderField {
  if (schema instanceof View) {
    const render = renderFields(schema, version);
    return (record, call) => {
      const innerRecord = get(record, call);
      return innerRecord === undefined || innerRecord === null ? jsonText(innerRecord) : render(innerRecord, call);
    };
  }
  if (Array.isArray(schema)) {
    const render = renderFields(schema[0], version);
    return (record, call) => {
      const items = get(record, call) as readonly unknown[] | undefined;
      return items ? `[${items.map((item) => render(item, call)).join(',')}]` : undefined;
    };
  }
  return (record, call) => jsonText(get(record, call));
}

/** Returns the function that renders a record with a view at a version. */
export function renderView(view: View<any, any>, version: Version): Render {
  const render = createCachedRenderer(view, version);
  const alternative = view.alternative && at(view.alternative, version);
  if (!alternative) return render;
  const renderAlternative = renderView(alternative.view, version);
  return (record, call) => (alternative.when(record, call) ? renderAlternative : render)(record, call);
}

/** Caches the rendered text of a record for the record's lifetime, if the view defines a cache key. */
function createCachedRenderer(view: View<any, any>, version: Version): Render {
  const render = renderFields(view, version);
  const { cacheKey } = view;
  if (!cacheKey) return render;
  const cache = new WeakMap<object, Map<string, string>>();
  let lastCall: unknown;
  let key: string | undefined;
  return (record, call) => {
    // All records of a list share one call, so the cache key is computed once per call.
    if (call !== lastCall) {
      lastCall = call;
      key = cacheKey(call);
    }
    if (key === undefined) return render(record, call);
    let texts = cache.get(record);
    if (!texts) cache.set(record, (texts = new Map()));
    let text = texts.get(key);
    if (text === undefined) {
      if (texts.size >= 4) texts.clear();
      texts.set(key, (text = render(record, call)));
    }
    return text;
  };
}
