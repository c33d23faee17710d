import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const RELATIVE = /(?<=from ')(\.{1,2}\/[\w./-]+)\.js(?=')/g;

/** Compiles a module and the local modules that it imports for this Node version. Returns its `data:` URL. */
function urlOf(path) {
  const source = readFileSync(`${path}.ts`, 'utf8');
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { outputText } = ts.transpileModule(source, options);
  const linked = outputText
    .replace(RELATIVE, (_, other) => urlOf(join(dirname(path), other)))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
  return `data:text/javascript;base64,${Buffer.from(linked).toString('base64')}`;
}

/**
 * Imports a module that no package exports, such as a module of the tests. This Node may not support TypeScript.
 *
 * @param path the path in the repository, without the extension
 */
export const importTypeScript = (path) => import(urlOf(join(ROOT, path)));
