import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../src/index.js';
import { type ClientName, CommandLines, hasClient, words } from '../e2e/command-lines.js';

/** One command: what it must print, and what of it later commands name. */
export interface Command {
  /** As one types it, without the client. `$name` stands for what was kept, `FILE` for a file with some bytes. */
  readonly run: string;
  readonly gives?: RegExp | readonly RegExp[];
  /** Name for what the first group of the pattern finds in the output: `{ image: /\| id +\| (\S+)/ }`. */
  readonly keep?: Readonly<Record<string, RegExp>>;
  /** It has to fail, in these words. */
  readonly fails?: RegExp;
}

/** The id in a table of fields and values. */
export const ID = /\| id +\| ([0-9a-f-]{32,36}) /;

/** A client that nobody here wrote says all this to one cloud; every command is a test. */
export function converse(
  client: ClientName,
  commands: readonly Command[],
  options: { readonly file: () => string; readonly env?: Readonly<Record<string, string>> },
): void {
  const installed = hasClient(client);
  if (!installed) console.warn(`\n*** SKIPPED: this machine has no ${client} command ***\n`);

  describe.skipIf(!installed)(`the ${client} command`, () => {
    let cloud: TestCloud;
    let lines: CommandLines;
    const errors: unknown[] = [];
    const kept: Record<string, string> = {};

    beforeAll(async () => {
      cloud = await startCloud({ onError: (error) => errors.push(error) });
      lines = new CommandLines();
    });
    afterAll(async () => {
      lines?.close();
      await cloud?.stop();
    });

    it.each(commands.map((command) => [command.run, command] as const))(
      '%s',
      async (_, { run, gives, keep, fails }) => {
        const typed = run.replaceAll(/\$(\w+)/g, (_whole, name: string) => kept[name] ?? `missing-${name}`);
        const argv = words(typed.replaceAll('FILE', options.file()));
        const result = await lines.run(client, argv, { ...cloud.envFor({}), ...options.env });
        await cloud.idle();
        if (fails) {
          expect(result.code).not.toBe(0);
          expect(result.stderr).toMatch(fails);
          return;
        }
        expect(result, `${typed}\n${result.stderr}`).toMatchObject({ code: 0 });
        for (const pattern of [gives ?? []].flat()) expect(result.stdout).toMatch(pattern);
        for (const [name, pattern] of Object.entries(keep ?? {})) {
          const found = pattern.exec(result.stdout)?.[1];
          expect(found, `${pattern} in ${result.stdout}`).toBeDefined();
          kept[name] = found!;
        }
      },
    );

    it('met nothing that is not served, and no error of the cloud', () => {
      expect(cloud.unserved()).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}
