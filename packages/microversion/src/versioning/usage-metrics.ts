import type { VersionUsage } from './version-usage.js';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function labelsText(labels: Labels): string {
  const escapeLabel = (value: string) => value.replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}{${labelsText(labels)}} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Returns the usage of versions as metrics in the Prometheus text format. Requests without a client have an empty label. */
export function usageMetrics(usage: readonly VersionUsage[]): string {
  const samplesOf = (value: (use: VersionUsage) => number) =>
    usage.map((use): Sample => [{ version: use.version }, value(use)]);
  const clients = usage.flatMap(({ version, requests, clients: counted }): Sample[] => {
    const rest = counted.reduce((remaining, client) => remaining - client.requests, requests);
    return [...counted, { client: '', requests: rest }].map((use) => [{ version, client: use.client }, use.requests]);
  });
  return [
    metric('api_version_requests_total', 'counter', 'Requests by version and client.', clients),
    metric(
      'api_version_requests_without_version_total',
      'counter',
      'Requests that did not name a version.',
      samplesOf(({ withoutVersion }) => withoutVersion),
    ),
    metric(
      'api_version_last_request_timestamp_seconds',
      'gauge',
      'Unix time of the last request.',
      samplesOf(({ lastSeen }) => lastSeen.getTime() / 1_000),
    ),
  ].join('');
}
