// Replaces third-party modules that programs use only partly, or not at all, so that bundles are smaller.
import { readFileSync } from 'node:fs';

const SENT_MEDIA_TYPES =
  /^(?:application\/(?:gzip|javascript|json|octet-stream|xml|yaml|zip)|font\/woff2?|image\/(?:gif|jpeg|png|svg\+xml|webp)|text\/(?:css|csv|html|javascript|markdown|plain|xml))$/;

/** Returns the JSON of mime-db, reduced to media types that programs send and to fields that mime-types reads. */
function reducedMimeDatabase(id) {
  const types = Object.entries(JSON.parse(readFileSync(id, 'utf8')))
    .filter(([type]) => SENT_MEDIA_TYPES.test(type))
    .map(([type, { source, charset, extensions }]) => [type, { source, charset, extensions }]);
  return JSON.stringify(Object.fromEntries(types));
}

const EMPTY_MODULE = 'module.exports = {};';

/** The replacement texts of modules, or functions that return them, keyed by the last part of the module's path. */
const REPLACEMENTS = {
  // Request bodies are UTF-8, which requires neither encoding tables nor their codecs.
  '/iconv-lite/encodings/dbcs-codec.js': EMPTY_MODULE,
  '/iconv-lite/encodings/dbcs-data.js': EMPTY_MODULE,
  '/iconv-lite/encodings/sbcs-codec.js': EMPTY_MODULE,
  '/iconv-lite/encodings/sbcs-data.js': EMPTY_MODULE,
  '/iconv-lite/encodings/sbcs-data-generated.js': EMPTY_MODULE,
  '/iconv-lite/encodings/utf32.js': EMPTY_MODULE,
  '/iconv-lite/encodings/utf7.js': EMPTY_MODULE,
  // These transformers are not used: no index has a condition with values, and no statement names a schema.
  '/kysely/dist/esm/plugin/immediate-value/immediate-value-transformer.js': 'export class ImmediateValueTransformer {}',
  '/kysely/dist/esm/plugin/with-schema/with-schema-transformer.js': 'export class WithSchemaTransformer {}',
  // Routers are not compiled.
  '/find-my-way/lib/compiler.js': EMPTY_MODULE,
  '/mime-db/db.json': reducedMimeDatabase,
  // Checks that regular expressions in routes are safe. The bundled programs have none in their routes, and those of
  // find-my-way itself are safe.
  '/safe-regex2/index.js': 'module.exports = () => true;',
  // A map with keys of any type. Only qs uses it, with objects as keys.
  '/side-channel/index.js': 'module.exports = () => new WeakMap();',
};

/**
 * Returns replacements that declare the classes of modules as empty classes, for other modules that only refer to them.
 */
const emptyClassReplacements = (folder, modules) =>
  Object.fromEntries(
    Object.entries(modules).map(([path, classes]) => [
      folder + path,
      classes.map((name) => `export class ${name} {}`).join('\n'),
    ]),
  );

/** Additional replacements for programs that must be as small as possible. */
const SMALL_REPLACEMENTS = {
  // Debug and deprecation messages for authors of Express applications.
  '/debug/src/index.js': 'module.exports = () => Object.assign(() => {}, { enabled: false });',
  '/depd/index.js': 'module.exports = () => Object.assign(() => {}, { function: (f) => f, property() {} });',
  // Parsers that are never called, because request bodies are JSON and the query parser is `simple`.
  '/qs/lib/index.js': EMPTY_MODULE,
  '/body-parser/lib/types/raw.js': EMPTY_MODULE,
  '/body-parser/lib/types/text.js': EMPTY_MODULE,
  '/body-parser/lib/types/urlencoded.js': EMPTY_MODULE,
  '/safer-buffer/safer.js': "module.exports = require('node:buffer');",
  '/iconv-lite/lib/streams.js': 'module.exports = () => ({});',
  // The program opens only SQLite databases, without replicas.
  '/record-store/src/postgres/postgres-dialect.ts':
    "export const postgresDialects = () => { throw new Error('this program supports only SQLite databases'); };",
  '/record-store/src/postgres/postgres-transactions.ts':
    'export class BatchConflict extends Error {} export class PostgresTransactions {}',
  '/record-store/src/replicas/read-replicas.ts': 'export class ReadReplicas {}',
  // Builders for statements that neither the schema changes nor the queries use.
  ...emptyClassReplacements('/kysely/dist/esm/', {
    'query-builder/case-builder.js': ['CaseBuilder', 'CaseThenBuilder', 'CaseWhenBuilder', 'CaseEndBuilder'],
    'query-builder/json-path-builder.js': ['JSONPathBuilder', 'TraversedJSONPathBuilder'],
    'query-builder/merge-query-builder.js': ['MergeQueryBuilder', 'WheneverMatchedQueryBuilder'],
    'schema/alter-table-add-foreign-key-constraint-builder.js': ['AlterTableAddForeignKeyConstraintBuilder'],
    'schema/alter-table-add-index-builder.js': ['AlterTableAddIndexBuilder'],
    'schema/alter-table-drop-constraint-builder.js': ['AlterTableDropConstraintBuilder'],
    'schema/alter-column-builder.js': ['AlterColumnBuilder', 'AlteredColumnBuilder'],
    'schema/create-schema-builder.js': ['CreateSchemaBuilder'],
    'schema/create-type-builder.js': ['CreateTypeBuilder'],
    'schema/create-view-builder.js': ['CreateViewBuilder'],
    'schema/drop-schema-builder.js': ['DropSchemaBuilder'],
    'schema/drop-type-builder.js': ['DropTypeBuilder'],
    'schema/drop-view-builder.js': ['DropViewBuilder'],
    'schema/foreign-key-constraint-builder.js': ['ForeignKeyConstraintBuilder'],
    'schema/refresh-materialized-view-builder.js': ['RefreshMaterializedViewBuilder'],
    'schema/unique-constraint-builder.js': ['UniqueConstraintNodeBuilder'],
  }),
  // Statements are not logged.
  '/kysely/dist/esm/util/log.js': `export class Log { isLevelEnabled() { return false; } }
    export const LOG_LEVELS = [];`,
  // Schemas that are not compiled use the general parser, which returns the same results more slowly.
  '/zod/v4/core/compile.js': `export const compile = (schema) => schema;
    export const [INVALID, withParser, ZodCompileAsyncError, ZodCompileUnsupportedError] = [];`,
  // Routers are never printed.
  '/find-my-way/lib/pretty-print.js': EMPTY_MODULE,
  // Programs render no templates and set no cookies.
  '/express/lib/view.js': EMPTY_MODULE,
  '/cookie/index.js': EMPTY_MODULE,
  '/cookie-signature/index.js': EMPTY_MODULE,
  // Responses negotiate the media type, but not the character set, encoding or language.
  '/negotiator/lib/charset.js': EMPTY_MODULE,
  '/negotiator/lib/encoding.js': EMPTY_MODULE,
  '/negotiator/lib/language.js': EMPTY_MODULE,
  // Programs do not send files with `res.sendFile()` or `express.static()`.
  '/content-disposition/dist/index.js': EMPTY_MODULE,
  '/range-parser/index.js': EMPTY_MODULE,
  '/send/index.js': EMPTY_MODULE,
  '/serve-static/index.js': EMPTY_MODULE,
  // The setting `trust proxy` is not used.
  '/proxy-addr/index.js':
    'module.exports = Object.assign((req) => req.socket.remoteAddress, { compile: () => () => false });',
};

/** Returns the path endings of all modules that are replaced in a program. */
export const reducedPaths = ({ small = false } = {}) =>
  Object.keys({ ...REPLACEMENTS, ...(small && SMALL_REPLACEMENTS) });

const ALL_REPLACEMENTS = { ...REPLACEMENTS, ...SMALL_REPLACEMENTS };

/** Returns a function that returns the replacement key of a module; undefined for modules that are not replaced. */
function createPathMatcher(options) {
  const pathEndings = reducedPaths(options);
  return (id) => pathEndings.find((path) => id.replaceAll('\\', '/').endsWith(path));
}

/** Returns whether a module is replaced completely, so that the program contains none of its code. */
export const isReplaced = (id, options) => typeof ALL_REPLACEMENTS[createPathMatcher(options)(id)] === 'string';

/** Returns a plugin that bundles the replacements instead of the modules. */
export function reducedModules(options) {
  const matchPath = createPathMatcher(options);
  return {
    name: 'reduced-modules',
    load: {
      filter: { id: /[\\/](?:node_modules|record-store)[\\/]/ },
      handler(id) {
        const text = ALL_REPLACEMENTS[matchPath(id)];
        return typeof text === 'function' ? text(id) : text;
      },
    },
  };
}
