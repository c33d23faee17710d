import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../src/index.js';
import { type ClientName, CommandLines, highestKnownVersion, warnWithoutClients, words } from './command-lines.js';
import { day, type Step } from './day.js';

const highest = highestKnownVersion();
warnWithoutClients(highest, 'a day with the command-line clients');

const VERSIONS = ['2.1', '2.26', '2.53', '2.72', '2.90', highest ?? 'highest'];

/** `2.9` is before `2.26`. */
const minor = (version: string) => Number(version.split('.')[1]);

function holds(step: Step, version: string): boolean {
  const { since = '2.1', until = '2.999' } = step;
  return minor(version) >= minor(since) && minor(version) <= minor(until);
}

/** What must be in an answer: patterns for texts, parts of objects, members of lists; an empty list is empty. */
function containing(wanted: unknown): unknown {
  if (wanted instanceof RegExp) return expect.stringMatching(wanted);
  if (Array.isArray(wanted)) return wanted.length === 0 ? [] : expect.arrayContaining(wanted.map(containing));
  if (typeof wanted !== 'object' || wanted === null) return wanted;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key, containing(value)])),
  );
}

describe.skipIf(highest === undefined).each(VERSIONS)('a day with the command-line clients at %s', (version) => {
  let cloud: TestCloud;
  /** One process for each user: the clients keep some of what they read from the environment. */
  let clients: Readonly<Record<'admin' | 'demo', CommandLines>>;
  const errors: unknown[] = [];

  beforeAll(async () => {
    cloud = await startCloud({ onError: (error) => errors.push(error) });
    clients = { admin: new CommandLines(), demo: new CommandLines() };
  });
  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) client.close();
    await cloud?.stop();
  });

  async function type(command: string, as: 'admin' | 'demo', format: readonly string[]): Promise<string> {
    const [client, ...argv] = words(command);
    const env = cloud.envFor({ user: as, project: 'demo' });
    const result = await clients[as].run(
      client as ClientName,
      ['--os-compute-api-version', version, ...argv, ...format],
      env,
    );
    expect(result, `${command}\n${result.stderr}`).toMatchObject({ code: 0 });
    return result.stdout;
  }

  it.each(day.filter((step) => holds(step, version)).map((step) => [step.does, step] as const))(
    '%s',
    async (_, step) => {
      const as = step.as ?? 'demo';
      const json = ['-f', 'json'];
      const stdout = await type(step.run, as, step.gives !== undefined && step.check === undefined ? json : []);
      await cloud.idle();
      if (step.gives !== undefined) {
        const shown = step.check === undefined ? stdout : await type(step.check, as, json);
        expect(JSON.parse(shown || 'null')).toEqual(containing(step.gives));
      }
    },
  );

  it('had an answer to every call, and no error of its own', () => {
    expect(cloud.unserved()).toEqual([]);
    expect(errors).toEqual([]);
    expect(cloud.requests().filter(({ status }) => status >= 500)).toEqual([]);
  });
});
