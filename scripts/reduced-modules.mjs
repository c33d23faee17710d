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
  // A map with keys of any type. Only qs uses it, and passes only objects.
  '/side-channel/index.js': 'module.exports = () => new WeakMap();',
};

/** The same for a program that is as small as possible. */
const SMALLER = {
  // Messages for authors of Express applications.
  '/debug/src/index.js': 'module.exports = () => Object.assign(() => {}, { enabled: false });',
  '/depd/index.js': 'module.exports = () => Object.assign(() => {}, { function: (f) => f, property() {} });',
  // Bodies are JSON, and the query parser is `simple`.
  '/qs/lib/index.js': EMPTY,
  '/safer-buffer/safer.js': "module.exports = require('node:buffer');",
  '/iconv-lite/lib/streams.js': 'module.exports = () => ({});',
  // Routers are never printed.
  '/find-my-way/lib/pretty-print.js': EMPTY,
  // No page is a template, and no response sets a cookie.
  '/express/lib/view.js': EMPTY,
  '/cookie/index.js': EMPTY,
  '/cookie-signature/index.js': EMPTY,
  // Only the media type of responses is negotiated.
  '/negotiator/lib/charset.js': EMPTY,
  '/negotiator/lib/encoding.js': EMPTY,
  '/negotiator/lib/language.js': EMPTY,
  // No response is a file.
  '/content-disposition/dist/index.js': EMPTY,
  '/range-parser/index.js': EMPTY,
  '/send/index.js': EMPTY,
  '/serve-static/index.js': EMPTY,
  // No proxy is trusted.
  '/proxy-addr/index.js':
    'module.exports = Object.assign((req) => req.socket.remoteAddress, { compile: () => () => false });',
};

/** Returns the ends of the paths of all modules that a program reduces. */
export const reducedPaths = ({ small = false } = {}) => Object.keys({ ...REDUCED, ...(small && SMALLER) });

const TEXTS = { ...REDUCED, ...SMALLER };

/** Returns a function that finds the end of the path of a reduced module; it returns undefined for other modules. */
function createPathMatcher(options) {
  const ends = reducedPaths(options);
  return (id) => ends.find((path) => id.replaceAll('\\', '/').endsWith(path));
}

/** Returns whether a program contains nothing of a module. */
export const isReplaced = (id, options) => typeof TEXTS[createPathMatcher(options)(id)] === 'string';

/** Returns a plugin that bundles the reduced modules. */
export function reducedModules(options) {
  const matchPath = createPathMatcher(options);
  return {
    name: 'reduced-modules',
    load: {
      filter: { id: /[\\/]node_modules[\\/]/ },
      handler(id) {
        const text = TEXTS[matchPath(id)];
        return typeof text === 'function' ? text(id) : text;
      },
    },
  };
}
