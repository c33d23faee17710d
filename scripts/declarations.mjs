// Bundles the TypeScript declarations that `npm run build` has written for a package into one file per entry point.
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import ts from 'typescript';

/** Bundled packages whose types are opaque. These types occur only where users cannot pass values of their own. */
const OPAQUE_PACKAGES = ['kysely'];

/** A plugin that replaces types imported from `OPAQUE_PACKAGES` with opaque interfaces of the same names. */
const opaqueTypes = {
  name: 'opaque-types',
  resolveId: {
    order: 'pre',
    handler: (id) => (OPAQUE_PACKAGES.includes(id) ? { id, external: true } : undefined),
  },
  renderChunk: {
    order: 'post',
    handler: (code) =>
      code.replaceAll(/^import \{ ([^}]*) \} from "(.*)";$/gm, (line, names, id) =>
        OPAQUE_PACKAGES.includes(id)
          ? names.replaceAll(/(\w+)(?:, )?/g, 'interface $1<T> {\n  readonly of?: T;\n}\n')
          : line,
      ),
  },
};

const INFERRED_TYPE_PATTERN = /^z\.(?:input|output|infer)</;

/** A plugin that expands types that are inferred from zod schemas. */
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
      const inferredTypes = [];
      const visit = (node) => {
        if (ts.isTypeNode(node) && INFERRED_TYPE_PATTERN.test(node.getText(source))) inferredTypes.push(node);
        else ts.forEachChild(node, visit);
      };
      visit(source);
      let text = code;
      for (const node of inferredTypes.reverse()) {
        const type = checker.typeToString(checker.getTypeFromTypeNode(node), undefined, flags);
        text = text.slice(0, node.getStart(source)) + type + text.slice(node.getEnd());
      }
      return { code: text, map: null };
    },
  },
};

/** The modules of the test cloud. Users reach the modules of other packages only through the engine and the preset. */
const TEST_CLOUD_MODULES = /[\\/]test-cloud[\\/]dist\b/;

/** The modules that define actions, and the table of all actions. */
const ACTION_MODULES = /actions[\\/](?:runner[\\/]action|immediate)\.d\.ts$/;

/** Matches the properties of actions, except those that determine the types of their requests and results. */
const ACTION_RULE = /^[ \t]+readonly (?!name\b|begin\b|arguments\b|result\b)\w+\??: (?:\{[^{}]*\}|[^{};]*);\n/gm;

/**
 * A plugin that removes what users do not need from the declarations of other packages: docstrings, the parameters of
 * constructors and the sources of events, which users do not call, the engine's internal state, and the rules and jobs
 * of actions. Together with the types that only these parts use, they account for more than half of all declarations.
 */
const removeUnusedParts = {
  name: 'fewer-parts',
  transform: {
    filter: { id: { include: /\.d\.ts$/, exclude: TEST_CLOUD_MODULES } },
    handler: (code, id) => ({
      code: (ACTION_MODULES.test(id) ? code.replaceAll(ACTION_RULE, '') : code)
        .replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, '')
        .replaceAll(/^([ \t]+)constructor\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\);$/gm, '$1protected constructor();')
        .replaceAll(/^[ \t]+(?:readonly (?:core: Core|embedded: EmbeddedCatalogs)|emit\w+\(.*);\n/gm, '')
        .replaceAll(/(Action<"\w+", [^,<>{]+, )[^,<>{]*Arguments\b/g, '$1unknown'),
      map: null,
    }),
  },
};

const DOCUMENTED_DECLARATION =
  /^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n((?:declare |abstract )*(?:class|const|function|interface|type) (\w+))/gm;

/**
 * A plugin that removes the docstrings of names that no entry point exports, because editors do not show these
 * docstrings. The docstrings of a type's members remain, because editors show them for values of the type.
 */
const reachableDocstrings = {
  name: 'reachable-docstrings',
  generateBundle(_options, output) {
    const chunks = Object.values(output).filter(({ type }) => type === 'chunk');
    const entries = chunks.filter(({ isEntry }) => isEntry);
    // A name may be exported under another name: `export { one as other }`.
    const exported = new Set(
      entries.flatMap(({ code, exports }) => [
        ...exports,
        ...Array.from(code.matchAll(/\b(\w+) as /g), ([, name]) => name),
      ]),
    );
    for (const chunk of chunks)
      chunk.code = chunk.code.replaceAll(DOCUMENTED_DECLARATION, (text, declaration, name) =>
        exported.has(name) ? text : declaration,
      );
  },
};

/**
 * Writes the declarations of entry points into a folder. Declarations that entry points share are written once.
 * @param input the built declaration files of the entry points, by their name in the folder without an extension
 * @param options.dir the folder
 * @param options.external returns whether a package is installed with this one, so that its declarations are imported
 * @param options.selfContained whether declarations must not import packages that are not installed
 */
export async function writeDeclarations(input, { dir, external, selfContained = false }) {
  const bundle = await rolldown({
    input,
    platform: 'node',
    // Warnings are errors here, but warnings about slow plugins depend on the load of the machine.
    checks: { pluginTimings: false },
    external,
    plugins: [
      ...(selfContained ? [opaqueTypes, expandTypes, removeUnusedParts] : []),
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
