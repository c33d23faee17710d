import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { bundledProgram } from './bundled-program.js';
import { blocksOf, commandsOf, documentPages, type ShownBlock, testedPrograms } from './shown-blocks.js';

const root = join(import.meta.dirname, '..');
const blocks = documentPages().flatMap(blocksOf);
const blocksIn = (...languages: readonly string[]) => blocks.filter(({ language }) => languages.includes(language));
const placeOf = ({ page, line }: ShownBlock) => `${page}:${line}`;

/** Runs a check on each block. Returns the places of blocks for which it throws, with the error. */
function rejected(shown: readonly ShownBlock[], check: (block: ShownBlock) => void): readonly string[] {
  return shown.flatMap((block) => {
    try {
      check(block);
      return [];
    } catch (error) {
      return [`${placeOf(block)}: ${(error as Error).message}`];
    }
  });
}

/** Languages of blocks, with their checks. Blocks without a language, and `text` and `http`, are output. */
const CHECKED: Readonly<Record<string, string>> = {
  ts: 'compiled',
  js: 'parsed here, and run by the tests of the package',
  json: 'parsed here',
  yaml: 'parsed here',
  sh: 'parsed here, with their options',
  console: 'parsed here, with their options',
  python: 'run by tests',
  go: 'run by tests',
  diff: 'applied by tests',
  mermaid: 'compared with the imports of the packages',
};

const isOutput = ({ language }: ShownBlock) => ['', 'text', 'http'].includes(language);

/** Programs of the documentation, by the words that start them. */
const PROGRAMS: readonly (readonly [start: RegExp, entry: string, topics: readonly (readonly string[])[]])[] = [
  [
    /\b(?:npx (?:--yes )?@apistrata\/server|apistrata|npm start --)(?= |$)/,
    'examples/reference-server/src/main.ts',
    [[], ['admin'], ['host']],
  ],
  [
    /\b(?:npx (?:--yes )?@apistrata\/test-cloud|apistrata-test-cloud)(?= |$)/,
    'packages/test-cloud/src/cli/main.ts',
    [[]],
  ],
  [/\b(?:npx (?:--yes )?@apistrata\/explorer|apistrata-explorer)(?= |$)/, 'packages/explorer/src/cli/main.ts', [[]]],
];

/** The options of a command: those before `--`, after which another program begins. */
function optionsOf(command: string): readonly string[] {
  const [own = ''] = command.split(/ -- | #|[|;&]/);
  return [...own.matchAll(/ --([a-z][\w-]*)/g)].map(([, name = '']) => name);
}

describe('the code on the pages', () => {
  it('has a language that is checked', () => {
    const unchecked = blocks.filter((block) => !isOutput(block) && !Object.hasOwn(CHECKED, block.language));
    expect(unchecked.map((block) => `${placeOf(block)} ${block.language}`)).toEqual([]);
    expect(blocks.length).toBeGreaterThan(150);
  });

  it('is valid where it is marked as JSON or YAML', () => {
    const wrong = [
      ...rejected(blocksIn('json'), ({ code }) => void JSON.parse(code)),
      ...rejected(blocksIn('yaml'), ({ code }) => {
        for (const { errors } of parseAllDocuments(code)) if (errors[0]) throw errors[0];
      }),
    ];
    expect(wrong).toEqual([]);
  });

  it('compiles where it is marked as JavaScript', () => {
    const wrong = rejected(blocksIn('js'), ({ code }) => {
      const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true, fileName: 'shown.js' });
      if (diagnostics[0]) throw new Error(ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' '));
    });
    expect(wrong).toEqual([]);
  });

  it('is run by a test if it is Python or Go, unless it requires Docker', () => {
    const programs = testedPrograms();
    const linesOf = (code: string) => code.split('\n').map((line) => line.replace(/ *\/\/.*/, '').trim());
    const wrong = blocksIn('python', 'go').filter(
      ({ code }) => !programs.some((text) => linesOf(code).every((line) => text.includes(line))),
    );
    expect([...new Set(wrong.map(({ page }) => page))]).toEqual(['docs/test-cloud-in-ci.md']);
  });

  it('is accepted by a shell', () => {
    const wrong = rejected(blocksIn('sh', 'console'), (block) => {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: commandsOf(block).join('\n'), encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
    });
    expect(wrong).toEqual([]);
  });

  it.each(PROGRAMS)('starts %s only with options that exist', async (start, entry, topics) => {
    const program = await bundledProgram(join(root, entry));
    const help = topics.map((topic) => {
      const { stdout, stderr } = spawnSync(process.execPath, [program, ...topic, '--help'], { encoding: 'utf8' });
      return stdout + stderr;
    });
    const knownOptions = new Set(help.join('\n').match(/(?<=--)[a-z][\w-]*/g));
    const commands = blocksIn('sh', 'console').flatMap((block) =>
      commandsOf(block).flatMap((command) => {
        const { index } = start.exec(command) ?? {};
        return index === undefined ? [] : [{ block, command: command.slice(index) }];
      }),
    );
    expect(commands.length).toBeGreaterThan(3);
    const wrong = commands.flatMap(({ block, command }) =>
      optionsOf(command.replace('npm start --', 'npm start')).flatMap((name) =>
        knownOptions.has(name) ? [] : [`${placeOf(block)}: --${name} in ${command}`],
      ),
    );
    expect(wrong).toEqual([]);
  });
});
