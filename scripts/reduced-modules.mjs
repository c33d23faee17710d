// For bundles: third-party modules that programs use only partly, or not at all.
import { readFileSync } from 'node:fs';

const SENT_TYPES =
  /^(?:application\/(?:gzip|javascript|json|octet-stream|xml|yaml|zip)|font\/woff2?|image\/(?:gif|jpeg|png|svg\+xml|webp)|text\/(?:css|csv|html|javascript|markdown|plain|xml))$/;

/** Returns the types of pages and data, which programs send, with the fields that mime-types reads. */
function sentTypes(id) {
  const types = Object.entries(JSON.parse(readFileSync(id, 'utf8')))
    .filter(([type]) => SENT_TYPES.test(type))
    .map(([type, { source, charset, extensions }]) => [type, { source, charset, extensions }]);
  return JSON.stringify(Object.fromEntries(types));
}

const EMPTY = 'module.exports = {};';

/** Texts of modules, or functions that return the text, by the end of the path of each. */
const REDUCED = {
  // Bodies are UTF-8, which requires neither tables nor their codecs.
  '/iconv-lite/encodings/dbcs-codec.js': EMPTY,
  '/iconv-lite/encodings/dbcs-data.js': EMPTY,
  '/iconv-lite/encodings/sbcs-codec.js': EMPTY,
  '/iconv-lite/encodings/sbcs-data.js': EMPTY,
  '/iconv-lite/encodings/sbcs-data-generated.js': EMPTY,
  '/iconv-lite/encodings/utf32.js': EMPTY,
  '/iconv-lite/encodings/utf7.js': EMPTY,
  '/mime-db/db.json': sentTypes,
  // Checks regular expressions in routes. Programs do not have such routes; the expressions of find-my-way itself are safe.
  '/safe-regex2/index.js': 'module.exports = () => true;',
  // A map with keys of any type. Its user qs passes only objects.
  '/side-channel/index.js': 'module.exports = () => new WeakMap();',
};

/** The same for a program that is as small as possible. */
const SMALLER = {
  // Messages for authors of Express applications.
  '/debug/src/index.js': 'module.exports = () => Object.assign(() => {}, { enabled: false });',
  '/depd/index.js': 'module.exports = () => Object.assign(() => {}, { function: (f) => f, property() {} });',
  // Bodies are JSON, and the query parser is `simple`.
  '/qs/lib/index.js': EMPTY,
  // No response is a file, and no proxy is trusted.
  '/send/index.js': EMPTY,
  '/serve-static/index.js': EMPTY,
  '/ipaddr.js/lib/ipaddr.js': EMPTY,
};

/** Returns the ends of the paths of all modules that a program reduces. */
export const reducedPaths = ({ small = false } = {}) => Object.keys({ ...REDUCED, ...(small && SMALLER) });

/** Returns a plugin that bundles the reduced modules. */
export function reducedModules(options) {
  const texts = { ...REDUCED, ...SMALLER };
  const ends = reducedPaths(options);
  return {
    name: 'reduced-modules',
    load: {
      filter: { id: /[\\/]node_modules[\\/]/ },
      handler(id) {
        const end = ends.find((path) => id.replaceAll('\\', '/').endsWith(path));
        if (!end) return;
        const text = texts[end];
        return typeof text === 'string' ? text : text(id);
      },
    },
  };
}
