/** Patterns that match values that differ in each run, with their replacements. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d/g, '2026-01-01$112:00:00'],
  [/(12:00:00)\.\d{6}\b/g, '$1.000000'],
  [/\b\d\d:\d\d:\d\d up \d+ min/g, '12:00:00 up 60 min'],
  [/https?:\/\/127\.0\.0\.1:\d+/g, 'https://compute.example.org'],
  [/\b10(?:\.\d{1,3}){3}\b/g, '10.0.0.4'],
  [/\b192\.0\.2\.\d+\b/g, '192.0.2.1'],
  [/(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])/g, 'fa:16:3e:4c:2c:30'],
  [/\b[0-9a-f]{56}\b/g, '0c1d2e3f'.repeat(7)],
  [/\br-[0-9a-z]{8}\b/g, 'r-4k1w9z7q'],
  [/\binstance-[0-9a-f]{8}\b/g, 'instance-00000001'],
  [/\bhost\d+\b/g, 'host1'],
  [/\b(server|key|group|aggregate|flavor|image|thing)-\d+\b/g, '$1-1'],
];

/** Replacements by field name. They describe a small server that ran for an hour. */
const passingFields: Readonly<Record<string, unknown>> = {
  adminPass: 'Vq3xT7mZb2Kd',
  port: 5900,
  uptime: 3600,
  hours: 1,
  total_hours: 1,
  total_vcpus_usage: 1,
  total_memory_mb_usage: 512,
  total_local_gb_usage: 1,
};

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function walk(value: unknown, name: string, idFor: (id: string) => string): unknown {
  const text = (found: string) =>
    passing.reduce((changed, [form, shown]) => changed.replace(form, shown), found.replace(UUID, idFor));
  // Links belong together, and some responses must contain all of them.
  if (Array.isArray(value) && name === 'links') return value.map((item) => walk(item, '', idFor));
  if (Array.isArray(value)) return value.length === 0 ? [] : [walk(mostFields(value), '', idFor)];
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(fields.map(([key, field]) => [text(key), walk(field, key, idFor)]));
  }
  if (typeof value === 'string' || typeof value === 'number') {
    if (Object.hasOwn(passingFields, name) && typeof passingFields[name] === typeof value) return passingFields[name];
    if (typeof value === 'number') return /(^|_)id$/.test(name) ? 1 : value;
    return text(value);
  }
  return value;
}

/** Returns the item with the most content, regardless of the order of the items. */
function mostFields(items: readonly unknown[]): unknown {
  const texts = items.map((item) => ({ item, text: JSON.stringify(walk(item, '', () => '')) }));
  texts.sort((one, other) => other.text.length - one.text.length || (one.text < other.text ? -1 : 1));
  return texts[0]!.item;
}

/** Returns a request or response with one item of each list except links, and with stable values. */
export function stable<T>(value: T): T {
  const ids = new Map<string, string>();
  const idFor = (found: string) => {
    const cached = ids.get(found) ?? `5ca1ab1e-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(found, cached);
    return cached;
  };
  return walk(value, '', idFor) as T;
}
