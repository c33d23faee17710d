// Finds the prose and names in files: the prose of Markdown, and the comments, strings, test titles and names of source
// code.
import ts from 'typescript';

/**
 * @typedef {'text' | 'comments' | 'strings' | 'titles' | 'names' | 'locals'} Kind
 * @typedef {object} Passage
 * @property {Kind} kind
 * @property {string} text
 * @property {number} start the index of the passage's first character in the file
 * @property {boolean} [isCode] whether the passage is not prose: a template with the tag `sql`, or a local name
 */

/**
 * @param {string} text
 * @returns {(index: number) => number} a function that returns the line number, from 1, of a character's index
 */
export function linesOf(text) {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (index) => starts.findLastIndex((start) => start <= index) + 1;
}

/** Replaces text with spaces, except for line breaks, so that indexes and line numbers stay valid. */
export const blank = (/** @type {string} */ stretch) => stretch.replace(/[^\n]/g, ' ');

/**
 * Returns the prose of a Markdown document, in which code blocks, inline code, comments and link targets are blank.
 *
 * @param {string} text
 * @returns {Passage[]}
 */
export function passagesOfMarkdown(text) {
  const prose = text
    .replace(/^ {0,3}```[\s\S]*?^ {0,3}```/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`]*`/g, blank)
    .replace(/\]\([^)]*\)/g, blank);
  return [{ kind: 'text', text: prose, start: 0 }];
}

/**
 * Returns the prose of a dashboard, of alert rules or of a systemd unit: titles, descriptions, legends and comments.
 *
 * @param {string} text
 * @returns {Passage[]}
 */
export function passagesOfConfiguration(text) {
  const shown = /"(?:title|description|legendFormat)": "((?:[^"\\]|\\.)*)"|summary: "([^"]*)"|^\s*# (.*)$/dgm;
  return [...text.matchAll(shown)].flatMap(({ indices = [] }) =>
    indices.slice(1).flatMap((range) => {
      if (!range) return [];
      const [start, end] = range;
      return [
        {
          kind: /** @type {const} */ ('text'),
          text: text.slice(start, end).replace(/\{\{.*?\}\}|`[^`]*`/g, blank),
          start,
        },
      ];
    }),
  );
}

/** @param {readonly RegExp[]} patterns */
const anyOf = (patterns) => patterns.map(({ source }) => source).join('|') || '(?!)';

/**
 * Finds the comments, strings and names in a file with the patterns of a syntax. Strings without a space are skipped,
 * as in TypeScript.
 *
 * @param {string} text
 * @param {import('./languages.mjs').Syntax} syntax
 * @returns {Passage[]}
 */
export function passagesOfSource(text, { comments, strings = [], names = [], locals = [] }) {
  /** @type {Passage[]} */
  const passages = [];
  const literals = new RegExp(`(${anyOf(comments)})|${anyOf(strings)}`, 'g');
  const code = text.replace(literals, (literal, comment, start) => {
    if (comment || literal.includes(' '))
      passages.push({ kind: comment ? 'comments' : 'strings', text: literal, start });
    return blank(literal);
  });
  const declared = (/** @type {Kind} */ kind, /** @type {readonly RegExp[]} */ patterns) =>
    patterns.flatMap((pattern) =>
      [...code.matchAll(pattern)].map(({ 0: found, 1: name = '', index }) => ({
        kind,
        text: name.replaceAll('_', ' '),
        start: index + found.indexOf(name),
        isCode: kind === 'locals',
      })),
    );
  return [...passages, ...declared('names', names), ...declared('locals', locals)];
}

/** @param {ts.Node} node */
function isTestTitle(node) {
  const call = node.parent;
  if (!call || !ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  return /^(?:it|test|describe)\b/.test(call.expression.getText());
}

/** @param {ts.Node} node */
function isSql(node) {
  const template = ts.findAncestor(node, ts.isTaggedTemplateExpression);
  return template !== undefined && /^sql\b/.test(template.tag.getText());
}

/**
 * Returns the name of a variable, parameter, function or private member.
 *
 * @param {ts.Node} node
 */
function localName(node) {
  const isVariable = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node);
  if (isVariable || ts.isFunctionDeclaration(node))
    return node.name && ts.isIdentifier(node.name) ? node.name : undefined;
  return ts.isClassElement(node) && node.name && ts.isPrivateIdentifier(node.name) ? node.name : undefined;
}

/** @param {ts.Statement} statement */
function membersOf(statement) {
  if (ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement)) return statement.members;
  const isRecord = ts.isTypeAliasDeclaration(statement) && ts.isTypeLiteralNode(statement.type);
  return isRecord ? statement.type.members : [];
}

/**
 * Returns the names that a statement exports, including the member names of exported types.
 *
 * @param {ts.Statement} statement
 * @returns {ts.Node[]}
 */
function exportedNames(statement) {
  if (!ts.canHaveModifiers(statement)) return [];
  if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name);
  const { name } = /** @type {ts.DeclarationStatement} */ (/** @type {unknown} */ (statement));
  const members = membersOf(statement).flatMap((member) => member.name ?? []);
  return [...(name ? [name] : []), ...members.filter(ts.isIdentifier)];
}

/**
 * Returns the comments, strings, test titles, exported names and local names of a TypeScript file. Strings without a
 * space are keys or names rather than prose, and are skipped.
 *
 * @param {string} text
 * @returns {Passage[]}
 */
export function passagesOfTypeScript(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  /** @type {Passage[]} */
  const passages = [];
  let withoutLiterals = text;
  const visit = (/** @type {ts.Node} */ node) => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText || node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const [start, end] = [node.getStart(source), node.getEnd()];
      const literal = text.slice(start, end);
      withoutLiterals = withoutLiterals.slice(0, start) + blank(literal) + withoutLiterals.slice(end);
      if (isText && literal.includes(' '))
        passages.push({ kind: isTestTitle(node) ? 'titles' : 'strings', text: literal, start, isCode: isSql(node) });
    }
    const local = localName(node);
    if (local)
      passages.push({ kind: 'locals', text: local.text.replace('#', ''), start: local.getStart(source), isCode: true });
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const comment of withoutLiterals.matchAll(/\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n\s*(?=\/\/))?)+/g))
    passages.push({ kind: 'comments', text: comment[0], start: comment.index });
  for (const name of source.statements.flatMap(exportedNames))
    passages.push({ kind: 'names', text: name.getText(), start: name.getStart() });
  return passages;
}
