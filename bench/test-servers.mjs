import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** Starts the servers the tests use; their module is TypeScript that this Node need not understand. */
export async function testServers() {
  const source = readFileSync(join(import.meta.dirname, '../testing/servers.ts'), 'utf8');
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { outputText } = ts.transpileModule(source, options);
  return import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}
