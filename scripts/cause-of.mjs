import { stripVTControlCharacters } from 'node:util';

/** Matches error lines of npm and pnpm that do not contain the cause of the error. */
const UNSPECIFIC_LINE =
  /^(code|errno|syscall|type|path|dest|signal|command|cwd)\b|complete log of this run|^\W*(npm )?err(or|!)?\W*$|:$/i;

/** Returns the cause of a failure: the first error line in a program's output that contains more than an error code. */
export function causeOf(output) {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  const errors = lines.filter((line) => /^npm err|^\W*(ERR_|error\b)|^[A-Za-z]*Error\b/i.test(line));
  const messages = errors.map((line) => line.replace(/^(npm (error|ERR!)|\[ERROR\]|Error:)\s*/i, ''));
  return messages.find((text) => text && !UNSPECIFIC_LINE.test(text)) ?? lines.filter(Boolean).at(-1);
}
