import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compilerErrorsOf, type ShownProgram } from './entry-points.js';

const root = join(import.meta.dirname, '..');
const PACKAGES = ['microversion', 'microversion-router', 'request-id', 'healthcheck', 'quota'];

/** The names of each entry point of a package: `testing/entry-points.test.ts` compares the file with the sources. */
function entryPointsOf(name: string): ReadonlyMap<string, readonly string[]> {
  const blocks = readFileSync(join(root, 'testing/entry-points.txt'), 'utf8').trim().split('\n\n');
  const own = blocks
    .map((block) => block.split('\n'))
    .filter(([head]) => /^[^ ]+/.exec(head ?? '')?.[0].split('/')[1] === name);
  return new Map(
    own.map(([head = '', ...lines]) => [
      head.split(' ')[0] ?? '',
      lines.map((line) => line.trim().replace(/^type /, '')),
    ]),
  );
}

/** A program that assigns the functions and types of a package to those in the section "TypeScript" of its README. */
function comparison(name: string): ShownProgram {
  const readme = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
  const [, block = ''] = /## TypeScript\n\n```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const functions = [...block.matchAll(/^declare function (\w+)/gm)].map(([, symbol = '']) => symbol);
  const interfaces = [...block.matchAll(/^interface (\w+)/gm)].map(([, symbol = '']) => symbol);
  const declared = [...functions, ...interfaces];
  expect(functions.length).toBeGreaterThan(2);
  const used = new Set(block.match(/\b\w+\b/g));
  const imports: string[] = [];
  const moduleOf = new Map<string, string>();
  for (const [index, [id, names]] of [...entryPointsOf(name)].entries()) {
    imports.push(`import * as real${index} from '${id}';`);
    for (const symbol of names.filter((each) => used.has(each) && !moduleOf.has(each))) {
      moduleOf.set(symbol, `real${index}`);
      if (!declared.includes(symbol)) imports.push(`import type { ${symbol} } from '${id}';`);
    }
  }
  const lines = [
    "import type { IncomingMessage, ServerResponse } from 'node:http';",
    ...imports,
    block,
    ...functions.map((symbol) => `export const ${symbol}Is: typeof ${symbol} = ${moduleOf.get(symbol)}.${symbol};`),
    ...interfaces.map(
      (symbol) => `export const ${symbol}Is = (value: ${moduleOf.get(symbol)}.${symbol}): ${symbol} => value;`,
    ),
  ];
  return { file: join(root, 'packages', name, `signatures of ${name}.ts`), text: lines.join('\n') };
}

it('signatures in READMEs match the packages', () => {
  const wrong = {
    file: join(root, 'packages/quota/wrong signature.ts'),
    text: "import { checkLimits } from '@apistrata/quota';\nexport const is: (limit: number) => void = checkLimits;",
  };
  const errors = compilerErrorsOf([...PACKAGES.map(comparison), wrong]);
  expect(errors).toEqual([expect.stringMatching(/^wrong signature/)]);
});
