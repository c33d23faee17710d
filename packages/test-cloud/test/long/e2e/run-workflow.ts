import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../../src/index.js';
import { type ClientName, CommandLines, highestKnownVersion, warnWithoutClients, words } from './command-lines.js';
import { publicKeyFile } from './public-key-file.js';
import type { Step } from './step.js';

/** `2.9` is before `2.26`. */
const minor = (version: string) => Number(version.split('.')[1]);

function holds({ since = '2.1', until = '2.999' }: Step, version: string): boolean {
  return minor(version) >= minor(since) && minor(version) <= minor(until);
}

/**
 * Returns a matcher for a response. Patterns match strings; objects and lists match if they contain the expected parts;
 * an empty list matches only an empty list.
 */
function containing(expected: unknown): unknown {
  if (expected instanceof RegExp) return expect.stringMatching(expected);
  if (Array.isArray(expected)) return expected.length === 0 ? [] : expect.arrayContaining(expected.map(containing));
  if (typeof expected !== 'object' || expected === null) return expected;
  const entries = Object.entries(expected).map(([key, value]) => [key, containing(value)]);
  return expect.objectContaining(Object.fromEntries(entries));
}

/** Runs a workflow, each step as a test, at each selected version and at the highest one that the clients support. */
export function runWorkflow(title: string, steps: readonly Step[]): void {
  const highest = highestKnownVersion();
  warnWithoutClients(highest, title);
  const versions = ['2.1', '2.26', '2.53', '2.72', '2.90', highest ?? 'the highest version'];

  describe.skipIf(highest === undefined).each(versions)(`${title} at %s`, (version) => {
    let cloud: TestCloud;
    /** One process for each user: the clients cache some of their environment. */
    let clients: Readonly<Record<'admin' | 'demo', CommandLines>>;
    const errors: unknown[] = [];
    const key = publicKeyFile();

    beforeAll(async () => {
      cloud = await startCloud({ onError: (error) => errors.push(error) });
      clients = { admin: new CommandLines(), demo: new CommandLines() };
    });
    afterAll(async () => {
      key.remove();
      for (const client of Object.values(clients ?? {})) client.close();
      await cloud?.stop();
    });

    async function type(command: string, as: 'admin' | 'demo', format: readonly string[]): Promise<string> {
      const [client, ...argv] = words(command.replace('PUBLIC_KEY', key.path));
      if (client === 'cloud') {
        await cloud.restartHost(argv[1]!);
        return '';
      }
      const env = cloud.envFor({ user: as, project: 'demo' });
      const all = ['--os-compute-api-version', version, ...argv, ...format];
      const result = await clients[as].run(client as ClientName, all, env);
      expect(result, `${command}\n${result.stderr}`).toMatchObject({ code: 0 });
      return result.stdout;
    }

    const applicable = steps.filter((step) => holds(step, version));
    it.each(applicable.map((step) => [step.title, step] as const))('%s', async (_, step) => {
      const { run, check, expects, as = 'demo' } = step;
      const format = expects === undefined || expects instanceof RegExp ? [] : ['-f', 'json'];
      const ran = await type(run, as, check === undefined ? format : []);
      await cloud.idle();
      if (expects === undefined) return;
      const shown = check === undefined ? ran : await type(check, as, format);
      if (expects instanceof RegExp) expect(shown).toMatch(expects);
      else expect(JSON.parse(shown || 'null')).toEqual(containing(expects));
    });

    it('received a response to every call, and logged no error', () => {
      expect(cloud.unhandled()).toEqual([]);
      expect(errors).toEqual([]);
      expect(cloud.requests().filter(({ status }) => status >= 500)).toEqual([]);
    });
  });
}
