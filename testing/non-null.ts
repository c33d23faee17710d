import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const packages = join(import.meta.dirname, '..', 'packages');

/** How often a text says with `!` what the compiler cannot see. */
export function nonNullAssertionsIn(text: string): number {
  let count = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isNonNullExpression(node)) count++;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest));
  return count;
}

/** The same of all sources of a package, its tests left out. */
export function nonNullAssertionsOf(name: string): number {
  const src = join(packages, name, 'src');
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .reduce((sum, file) => sum + nonNullAssertionsIn(readFileSync(join(src, file), 'utf8')), 0);
}
