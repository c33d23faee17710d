// Writes the declarations of a published package, from those that `npm run build` has written: one file for each entry
// point, with only what it exports.
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import ts from 'typescript';

/** Packages that a bundle contains. Their types occur only where users cannot pass their own value. */
const OPAQUE = ['kysely'];

/** A plugin that replaces imported types with interfaces of the same names without members. */
const opaqueTypes = {
  name: 'opaque-types',
  resolveId: {
    order: 'pre',
    handler: (id) => (OPAQUE.includes(id) ? { id, external: true } : undefined),
  },
  renderChunk: {
    order: 'post',
    handler: (code) =>
      code.replaceAll(/^import \{ ([^}]*) \} from "(.*)";$/gm, (line, names, id) =>
        OPAQUE.includes(id) ? names.replaceAll(/(\w+)(?:, )?/g, 'interface $1<T> {\n  readonly of?: T;\n}\n') : line,
      ),
  },
};

const DERIVED = /^z\.(?:input|output|infer)</;

/** A plugin that expands the types that are derived from zod schemas. */
const expandTypes = {
  name: 'written-out',
  transform: {
    filter: { id: /\.d\.ts$/, code: /\bz\.(?:input|output|infer)</ },
    handler(code, id) {
      const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, types: [] };
      const program = ts.createProgram([id], options);
      const source = program.getSourceFile(id);
      const checker = program.getTypeChecker();
      const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
      const found = [];
      const visit = (node) => {
        if (ts.isTypeNode(node) && DERIVED.test(node.getText(source))) found.push(node);
        else ts.forEachChild(node, visit);
      };
      visit(source);
      let text = code;
      for (const node of found.reverse()) {
        const type = checker.typeToString(checker.getTypeFromTypeNode(node), undefined, flags);
        text = text.slice(0, node.getStart(source)) + type + text.slice(node.getEnd());
      }
      return { code: text, map: null };
    },
  },
};

/** The package's own modules. The modules of other packages are reached only through the engine and the preset. */
const DOCUMENTED = /[\\/]test-cloud[\\/]dist\b/;

/** A plugin that removes other packages' docstrings, which account for half the size of all declarations. */
const removeUnusedDocstrings = {
  name: 'fewer-docstrings',
  transform: {
    filter: { id: { include: /\.d\.ts$/, exclude: DOCUMENTED } },
    handler: (code) => ({ code: code.replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, ''), map: null }),
  },
};

const DECLARATION =
  /^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n((?:declare |abstract )*(?:class|const|function|interface|type) (\w+))/gm;

/**
 * A plugin that removes the docstrings of names that no entry point exports: editors do not show them. The docstrings
 * of members remain: editors show them for values of these types.
 */
const reachableDocstrings = {
  name: 'reachable-docstrings',
  generateBundle(_options, output) {
    const chunks = Object.values(output).filter(({ type }) => type === 'chunk');
    const entries = chunks.filter(({ isEntry }) => isEntry);
    // Some are exported by another name: `export { one as other }`.
    const exported = new Set(
      entries.flatMap(({ code, exports }) => [
        ...exports,
        ...Array.from(code.matchAll(/\b(\w+) as /g), ([, name]) => name),
      ]),
    );
    for (const chunk of chunks)
      chunk.code = chunk.code.replaceAll(DECLARATION, (text, declaration, name) =>
        exported.has(name) ? text : declaration,
      );
  },
};

/**
 * Writes the declarations of entry points into a folder; shared ones are written once.
 * @param input the built declarations of the entry points, by the name of each in the folder, without its extension
 * @param options.dir the folder
 * @param options.external whether a package is installed with this one, so that its declarations are imported
 * @param options.selfContained whether packages that are not installed must not be named
 */
export async function writeDeclarations(input, { dir, external, selfContained = false }) {
  const bundle = await rolldown({
    input,
    platform: 'node',
    // A warning about slow plugins depends on the load of the machine.
    checks: { pluginTimings: false },
    external,
    plugins: [
      ...(selfContained ? [opaqueTypes, expandTypes, removeUnusedDocstrings] : []),
      dts({ dtsInput: true, emitDtsOnly: true, sourcemap: false, tsconfig: false }),
      reachableDocstrings,
    ],
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  await bundle.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].ts',
    chunkFileNames: 'chunks/[name].ts',
    minifyInternalExports: false,
  });
  await bundle.close();
}
