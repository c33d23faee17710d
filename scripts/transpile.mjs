// Turns the sources of the server into what Node runs, as `tsc -b` would, but without looking at types: that takes a
// tenth of the time, and none of the declarations of other people's packages. `npm test` is who looks.
// Arguments are folders, instead of all that the server is made of.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { modules, ROOT, serverFolders } from './start-keys.mjs';

const read = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson(read.config.compilerOptions, ROOT);
// What NodeNext makes of files in packages of `"type": "module"`; a file that is looked at alone does not know its package.
const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, declaration: false, declarationMap: false };

const chosen = process.argv.slice(2);
for (const folder of chosen.length > 0 ? chosen : serverFolders()) {
  for (const file of modules(folder)) {
    const source = join(ROOT, folder, 'src', file);
    const target = join(ROOT, folder, 'dist', file.replace(/\.ts$/, '.js'));
    const { outputText, sourceMapText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      fileName: source,
      compilerOptions,
    });
    const map = JSON.parse(sourceMapText);
    map.file = basename(target);
    map.sources = [relative(dirname(target), source)];
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    writeFileSync(`${target}.map`, JSON.stringify(map));
  }
}
