import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const RELATIVE = /(?<=from ')\.\/([\w-]+)\.js(?=')/g;

/** A module of the tests as one that this Node understands, with those beside it that it imports. */
function urlOf(name) {
  const source = readFileSync(join(import.meta.dirname, `../testing/${name}.ts`), 'utf8');
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { outputText } = ts.transpileModule(source, options);
  const whole = outputText.replace(RELATIVE, (_, other) => urlOf(other));
  return `data:text/javascript;base64,${Buffer.from(whole).toString('base64')}`;
}

/** Starts the servers the tests use; their module is TypeScript that this Node need not understand. */
export const testServers = () => import(urlOf('servers'));

/** Starts a PostgreSQL and one that follows it; see `testing/postgres-pair.ts`. */
export const postgresPairs = () => import(urlOf('postgres-pair'));
