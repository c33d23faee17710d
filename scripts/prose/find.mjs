// Finds words that docs/style.md replaces in Markdown and in TypeScript: comments, strings, test titles, exported names.
import ts from 'typescript';
import { NAME_PARTS, RULES } from './rules.mjs';

/**
 * @typedef {'text' | 'comments' | 'strings' | 'titles' | 'names'} Kind
 * @typedef {{ readonly kind: Kind, readonly line: number, readonly found: string, readonly instead: string }} Finding
 */

/**
 * @param {string} text
 * @returns {(index: number) => number} the line of an index, from 1
 */
function linesOf(text) {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (index) => starts.findLastIndex((start) => start <= index) + 1;
}

/** Replaces a stretch by spaces and keeps line breaks, so that indexes stay valid. */
const blank = (/** @type {string} */ stretch) => stretch.replace(/[^\n]/g, ' ');

/**
 * @param {Kind} kind
 * @param {string} text
 * @param {(index: number) => number} lineAt
 * @param {number} [offset]
 * @returns {Finding[]}
 */
function findWords(kind, text, lineAt, offset = 0) {
  // A phrase may continue on the next line, behind the star or slashes of a comment.
  const joined = text.replace(/\n\s*(?:\*(?!\/)|\/\/)?/g, blank).replace(/\n/g, ' ');
  return RULES.flatMap(({ pattern, instead }) =>
    [...joined.matchAll(pattern)].map((match) => ({
      kind,
      line: lineAt(offset + match.index),
      found: match[0].replace(/\s+/g, ' '),
      instead,
    })),
  );
}

/**
 * Finds words in the prose of a Markdown document: code blocks, inline code, comments and targets of links are skipped.
 *
 * @param {string} text
 * @returns {Finding[]}
 */
export function findInMarkdown(text) {
  const prose = text
    .replace(/^ {0,3}```[\s\S]*?^ {0,3}```/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`]*`/g, blank)
    .replace(/\]\([^)]*\)/g, blank);
  return findWords('text', prose, linesOf(text));
}

/** @param {ts.Node} node */
function isTestTitle(node) {
  const call = node.parent;
  if (!call || !ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  return /^(?:it|test|describe)\b/.test(call.expression.getText());
}

/** @param {ts.Statement} statement */
function exportedNames(statement) {
  if (!ts.canHaveModifiers(statement)) return [];
  if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name);
  const { name } = /** @type {ts.DeclarationStatement} */ (/** @type {unknown} */ (statement));
  return name ? [name] : [];
}

/**
 * Finds words in the comments, strings, test titles and exported names of a TypeScript file. Strings without a space are
 * keys or names rather than prose, and are skipped.
 *
 * @param {string} text
 * @returns {Finding[]}
 */
export function findInTypeScript(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const lineAt = linesOf(text);
  /** @type {Finding[]} */
  const findings = [];
  let withoutLiterals = text;
  const visit = (/** @type {ts.Node} */ node) => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText || node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
      const [start, end] = [node.getStart(source), node.getEnd()];
      const literal = text.slice(start, end);
      withoutLiterals = withoutLiterals.slice(0, start) + blank(literal) + withoutLiterals.slice(end);
      if (isText && literal.includes(' '))
        findings.push(...findWords(isTestTitle(node) ? 'titles' : 'strings', literal, lineAt, start));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const comment of withoutLiterals.matchAll(/\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n\s*(?=\/\/))?)+/g))
    findings.push(...findWords('comments', comment[0], lineAt, comment.index));
  for (const name of source.statements.flatMap(exportedNames)) {
    const parts = name.getText().split(/(?=[A-Z])|_/);
    const found = parts.find((part) => NAME_PARTS.has(part.toLowerCase()));
    if (found)
      findings.push({
        kind: 'names',
        line: lineAt(name.getStart()),
        found: name.getText(),
        instead: 'see the glossary',
      });
  }
  return findings;
}
