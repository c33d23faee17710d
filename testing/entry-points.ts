import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');

/** A name that a package exports. */
export interface PublicName {
  readonly name: string;
  /** Whether it exists at run time; types do not. */
  readonly value: boolean;
  readonly documented: boolean;
  /** The programs in its documentation that show how it is used. */
  readonly examples: readonly string[];
}

/** An entry point of a package. */
export interface EntryPoint {
  /** The folder of its package: `packages/quota`. */
  readonly folder: string;
  /** The specifier of its import: `@apistrata/quota/sql`. */
  readonly id: string;
  readonly names: readonly PublicName[];
}

interface EntryPointFile {
  readonly folder: string;
  readonly id: string;
  readonly file: string;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | { readonly '@apistrata/source': string }>>;
}

function entryPointFiles(): readonly EntryPointFile[] {
  return readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = `packages/${name}`;
    const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    if (manifest.private) return [];
    return Object.entries(manifest.exports).flatMap(([path, target]) =>
      typeof target === 'string'
        ? []
        : [{ folder, id: join(manifest.name, path), file: join(root, folder, target['@apistrata/source']) }],
    );
  });
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (file) => readFileSync(file, 'utf8'));
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  return { ...options, composite: false, noEmit: true };
}

/** All entry points of all packages, read from their sources with the compiler. */
export function publicEntryPoints(): readonly EntryPoint[] {
  const points = entryPointFiles();
  const files = points.map(({ file }) => file);
  const program = ts.createProgram(files, compilerOptions());
  const checker = program.getTypeChecker();
  const read = (symbol: ts.Symbol): PublicName => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return {
      name: symbol.name,
      value: (target.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol),
      documented: target.getDocumentationComment(checker).length > 0,
      examples: target
        .getJsDocTags(checker)
        .filter(({ name }) => name === 'example')
        .map(({ text }) => ts.displayPartsToString(text)),
    };
  };
  return points.map(({ folder, id, file }) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) throw new Error(`${id}: ${file} exports nothing`);
    const names = checker.getExportsOfModule(module).map(read);
    return { folder, id, names: names.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}

/** Returns whether only the type of a class or value is exported. */
function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some(
    (declaration) => ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration),
  );
}

/** Formats one line for each name, for reviews. */
export function entryPointsText(entryPoints: readonly EntryPoint[]): string {
  const blocks = entryPoints.map(({ id, names }) =>
    [`${id} (${names.length})`, ...names.map(({ name, value }) => `  ${value ? '' : 'type '}${name}`)].join('\n'),
  );
  return `${blocks.join('\n\n')}\n`;
}

/**
 * A program in a document, and the path at which it is compiled: imports resolve as in the package that contains the
 * path.
 */
export interface ShownProgram {
  readonly file: string;
  readonly text: string;
}

/** The examples of all entry points. */
export function examplesOf(entryPoints: readonly EntryPoint[]): readonly ShownProgram[] {
  return entryPoints.flatMap(({ folder, id, names }) =>
    names.flatMap(({ name, examples }) =>
      examples.map((text) => ({
        file: join(root, folder, `example of ${name} in ${id.replaceAll('/', ' ')}.ts`),
        text: text.replace(/^```ts\n([\s\S]*)```$/, '$1'),
      })),
    ),
  );
}

/** Returns the errors of the compiler for programs that are not files. */
export function compilerErrorsOf(programs: readonly ShownProgram[]): readonly string[] {
  const texts = new Map(programs.map(({ file, text }) => [file, text]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version, true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => `${basename(file)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
  );
}
