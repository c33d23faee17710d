// Reads the image settings of a Dockerfile, so that images that are built without Docker have the same settings.
import { readFileSync } from 'node:fs';

const NANOSECONDS = 1_000_000_000;

/** Returns the health check of an image configuration from a HEALTHCHECK instruction. */
function healthcheckOf(text) {
  const [, options, command] = /^(.*)CMD (\[.*\])$/.exec(text);
  const given = Object.fromEntries(
    Array.from(options.matchAll(/--([\w-]+)=(\d+)/g), ([, name, value]) => [name, Number(value)]),
  );
  return {
    Test: ['CMD', ...JSON.parse(command)],
    Interval: given.interval * NANOSECONDS,
    Timeout: given.timeout * NANOSECONDS,
    StartPeriod: given['start-period'] * NANOSECONDS,
    Retries: given.retries,
  };
}

/** Returns the image configuration that the last stage of a Dockerfile describes. */
export function readFinalStage(file) {
  const [stage] = readFileSync(file, 'utf8')
    .replaceAll('\\\n', '')
    .split(/^FROM /m)
    .slice(-1);
  const valuesOf = (instruction) =>
    Array.from(stage.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm')), ([, value]) => value.trim());
  const [user, entrypoint, healthcheck] = ['USER', 'ENTRYPOINT', 'HEALTHCHECK'].map((name) => valuesOf(name).at(-1));
  return {
    User: user,
    ExposedPorts: Object.fromEntries(valuesOf('EXPOSE').map((port) => [`${port}/tcp`, {}])),
    Env: valuesOf('ENV'),
    Entrypoint: JSON.parse(entrypoint),
    Healthcheck: healthcheckOf(healthcheck),
  };
}
