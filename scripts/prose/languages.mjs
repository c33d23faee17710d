// The comments, strings and names in files other than Markdown and TypeScript, as patterns by file name extension.

/**
 * @typedef {object} Syntax
 * @property {readonly RegExp[]} comments comments and docstrings
 * @property {readonly RegExp[]} [strings] omitted for languages in which text without quotes contains apostrophes
 * @property {readonly RegExp[]} [names] declarations that other files see; the first group is the name
 * @property {readonly RegExp[]} [locals] declarations of local names; the first group is the name
 */

/**
 * Matches consecutive line comments as one, because sentences continue on the next line. A marker within a word, such
 * as `$#` in a shell script, does not begin a comment.
 *
 * @param {string} marker
 */
const lineComments = (marker) => new RegExp(`(?<![^\\s;])${marker}[^\\n]*(?:\\n[ \\t]*${marker}[^\\n]*)*`);

const HASH_COMMENTS = lineComments('#');
const SLASH_COMMENTS = lineComments('//');
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//;
const MARKUP_COMMENT = /<!--[\s\S]*?-->/;
const DOCSTRING = /"""[\s\S]*?"""/;
const DOUBLE_QUOTED = /"(?:[^"\\]|\\[\s\S])*"/;
const SINGLE_QUOTED = /'(?:[^'\\\n]|\\.)*'/;
const SHELL_SINGLE_QUOTED = /'[^']*'/;
const BACKQUOTED = /`[^`]*`/;
/** YAML values that a page or a workflow displays. */
const DISPLAYED_YAML_VALUE = /(?<=\b(?:name|description|title|label|placeholder): )[^\n]+/;

/** @type {readonly (Syntax & { readonly files: RegExp })[]} */
export const LANGUAGES = [
  {
    files: /\.go$/,
    comments: [SLASH_COMMENTS, BLOCK_COMMENT],
    strings: [DOUBLE_QUOTED, BACKQUOTED, SINGLE_QUOTED],
    names: [/^(?:func (?:\([^)]*\) )?|type |const |var )(\w+)/gm],
    locals: [/(\w+)(?=(?:, \w+)* :=)/g],
  },
  {
    files: /\.py$/,
    comments: [DOCSTRING, HASH_COMMENTS],
    strings: [DOUBLE_QUOTED, SINGLE_QUOTED],
    names: [/^ *(?:def|class) (\w+)/gm],
    locals: [/^ *(\w+)(?= = )/gm],
  },
  {
    files: /\.rb$/,
    comments: [HASH_COMMENTS],
    strings: [DOUBLE_QUOTED, SINGLE_QUOTED],
    names: [/^ *(?:def|class) (\w+)/gm],
    locals: [/^ *(\w+)(?= = )/gm],
  },
  {
    files: /\.sh$/,
    comments: [HASH_COMMENTS],
    strings: [DOUBLE_QUOTED, SHELL_SINGLE_QUOTED],
    names: [/^ *(\w+)(?=\(\) )/gm],
    locals: [/^ *(\w+)(?==)/gm],
  },
  { files: /\.css$/, comments: [BLOCK_COMMENT] },
  { files: /\.(?:jsx|vue)$/, comments: [SLASH_COMMENTS, BLOCK_COMMENT, MARKUP_COMMENT] },
  { files: /\.ya?ml$/, comments: [HASH_COMMENTS], strings: [DISPLAYED_YAML_VALUE] },
  { files: /\.(?:toml|conf)$|(?:^|\/)Dockerfile$/, comments: [HASH_COMMENTS] },
];
