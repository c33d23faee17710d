import { type Html, html } from './html.js';

const TOKEN_PATTERN =
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)(\s*:)?|((?:^|(?<=\s))(?:\/\/|#)[^\n]*)|(?<=^|[\s[,(=])(-?\d+(?:\.\d+)?)\b|\b(true|false|null|nil|None|True|False|const|let|await|async|return|import|from|as|with|if|err|func|package|print|new)\b/gm;

function token(kind: string, text: string): Html {
  return html`<span class="t-${kind}">${text}</span>`;
}

/**
 * Renders code with markup for strings, numbers, keywords and comments, which the style sheet colors. Supports JSON,
 * shell, JavaScript, Python and Go. Code in other languages is escaped and remains readable.
 */
export function highlight(code: string): Html {
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of code.matchAll(TOKEN_PATTERN)) {
    const [text, quoted, colon, comment, number] = match;
    parts.push(code.slice(end, match.index));
    if (quoted !== undefined) parts.push(token(colon === undefined ? 'string' : 'key', quoted), colon ?? '');
    else parts.push(token(comment !== undefined ? 'comment' : number !== undefined ? 'number' : 'word', text));
    end = match.index + text.length;
  }
  return html`${parts}${code.slice(end)}`;
}
