import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../../src/index.js';
import { type ClientName, CommandLines, hasClient, words } from '../e2e/command-lines.js';

/** A command, its expected output, and the values in the output that later commands use. */
export interface Command {
  /**
   * The command line without the name of the client. `$name` stands for a value from an earlier command, and `FILE` for
   * a file with a few bytes.
   */
  readonly run: string;
  readonly expects?: RegExp | readonly RegExp[];
  /**
   * The name of each captured value, with a pattern whose first group matches the value in the output: `{ image: /\| id
   * +\| (\S+)/ }`.
   */
  readonly captures?: Readonly<Record<string, RegExp>>;
  /** The command must fail with this message. */
  readonly fails?: RegExp;
}

/** The id in a table of fields and values. */
export const ID = /\| id +\| ([0-9a-f-]{32,36}) /;

/** Runs commands of a third-party client against one cloud; every command is a test. */
export function converse(
  client: ClientName,
  commands: readonly Command[],
  options: {
    readonly file: () => string;
    readonly env?: Readonly<Record<string, string>>;
    /** The Python module of a plugin that the commands need. */
    readonly plugin?: string;
  },
): void {
  const installed = hasClient(client, options.plugin);
  if (!installed)
    console.warn(
      `\n*** SKIPPED: this machine has no ${[client, options.plugin ?? []].flat().join(' with ')} command ***\n`,
    );

  describe.skipIf(!installed)(`the ${client} command${options.plugin ? ` with ${options.plugin}` : ''}`, () => {
    let cloud: TestCloud;
    let lines: CommandLines;
    const errors: unknown[] = [];
    const remaining: Record<string, string> = {};

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
      async (_, { run, expects, captures, fails }) => {
        const typed = run.replaceAll(/\$(\w+)/g, (_whole, name: string) => remaining[name] ?? `missing-${name}`);
        const argv = words(typed.replaceAll('FILE', options.file()));
        const result = await lines.run(client, argv, { ...cloud.envFor({}), ...options.env });
        await cloud.idle();
        if (fails) {
          expect(result.code).not.toBe(0);
          expect(result.stderr).toMatch(fails);
          return;
        }
        expect(result, `${typed}\n${result.stderr}`).toMatchObject({ code: 0 });
        for (const pattern of [expects ?? []].flat()) expect(result.stdout).toMatch(pattern);
        for (const [name, pattern] of Object.entries(captures ?? {})) {
          const found = pattern.exec(result.stdout)?.[1];
          expect(found, `${pattern} in ${result.stdout}`).toBeDefined();
          remaining[name] = found!;
        }
      },
    );

    it('sent no unhandled requests, and caused no errors in the cloud', () => {
      expect(cloud.unhandled()).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}
