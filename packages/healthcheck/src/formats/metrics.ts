import type { HealthStatus } from '../endpoint.js';

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Returns the health of endpoints as metrics in the Prometheus text format. */
export function metricsText(statuses: ReadonlyMap<string, HealthStatus>): string {
  const endpoints = [...statuses].map(([endpoint, { available }]): Sample => [{ endpoint }, Number(available)]);
  // A check that several endpoints share is reported once.
  const checks = new Map([...statuses.values()].flatMap(({ results }) => results.map((check) => [check.name, check])));
  const checkSamples = (value: (report: HealthStatus['results'][0]) => number) =>
    [...checks.values()].map((report): Sample => [{ check: report.name }, value(report)]);
  return [
    metric('healthcheck_up', 'Whether the endpoint is available.', endpoints),
    metric(
      'healthcheck_check_up',
      'Whether the check is available or degraded.',
      checkSamples(({ available }) => Number(available)),
    ),
    metric(
      'healthcheck_check_degraded',
      'Whether the check is degraded.',
      checkSamples(({ state }) => Number(state === 'degraded')),
    ),
    metric(
      'healthcheck_check_duration_seconds',
      'Duration of the latest check run.',
      checkSamples(({ durationMs }) => durationMs / 1_000),
    ),
    metric(
      'healthcheck_check_changed_timestamp_seconds',
      'Unix time of the last state change.',
      checkSamples(({ changedAt }) => changedAt.getTime() / 1_000),
    ),
  ].join('');
}

function metric(name: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(([labels, value]) => `${name}{${labelsText(labels)}} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function labelsText(labels: Readonly<Record<string, string>>): string {
  const escapeLabel = (value: string) => value.replaceAll(/[\\"\n]/g, (character) => ESCAPES[character] ?? character);
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}
