import type { OptionKind } from './option-kinds.js';
import { optionGroups } from './options.js';

/** The maximum line length of the help text, in characters. */
const MAX_LINE_LENGTH = 100;
const INDENT_WIDTH = 2;
/** The column where descriptions start. The description of a longer option starts on the next line. */
const DESCRIPTION_COLUMN = 30;

/** Breaks a sentence between words into lines of at most `width` characters. */
function wrapLines(sentence: string, width: number): readonly string[] {
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

/** Returns paragraphs, each broken into lines of at most 100 characters. */
export function wrapParagraphs(...sentences: readonly string[]): readonly string[] {
  return sentences.flatMap((sentence) => wrapLines(sentence, MAX_LINE_LENGTH));
}

/** Returns a help entry with two columns: what the user types, and its description. */
export function formatHelpRow(usageText: string, description: string): readonly string[] {
  const indentedText = ' '.repeat(INDENT_WIDTH) + usageText;
  const lines = wrapLines(description, MAX_LINE_LENGTH - DESCRIPTION_COLUMN);
  const [firstLine, ...rest] = indentedText.length + 2 <= DESCRIPTION_COLUMN ? lines : ['', ...lines];
  const continuationLines = rest.map((line) => ' '.repeat(DESCRIPTION_COLUMN) + line);
  return [`${indentedText.padEnd(DESCRIPTION_COLUMN)}${firstLine}`.trimEnd(), ...continuationLines];
}

/** Returns the help entries for an option table: name, placeholder, description and default of each option. */
export function formatOptionRows(table: Readonly<Record<string, OptionKind<any>>>): readonly string[] {
  return Object.entries(table).flatMap(([name, { placeholder, help, fallback, repeat }]) => {
    const defaultText = typeof fallback === 'string' || typeof fallback === 'number' ? ` (default ${fallback})` : '';
    const usageText = `--${name}${placeholder ? ` ${placeholder}` : ''}`;
    return formatHelpRow(usageText, `${help}${defaultText}${repeat ? '; repeatable' : ''}`);
  });
}

/** Returns the text of `--help`. */
export function helpText(): string {
  return [
    'Usage:',
    ...formatHelpRow('apistrata [options]', 'serves the compute API'),
    ...formatHelpRow(
      'apistrata admin COMMAND',
      'manages a database and its server: status, backup, restore, purge, ...',
    ),
    ...formatHelpRow(
      'apistrata host [options]',
      'adds this computer as a host to a cloud whose API other processes serve',
    ),
    '',
    ...wrapParagraphs(
      'From a clone of the repository, use "npm start -- [options]". "admin --help" and "host --help" list their own options.',
    ),
    ...Object.entries(optionGroups).flatMap(([title, table]) => ['', `${title}:`, ...formatOptionRows(table)]),
    '',
    ...wrapParagraphs(
      'Each option is also an environment variable: --log-level is APISTRATA_LOG_LEVEL.',
      'On SIGHUP the server reads the configuration file again: policies, log level and limits apply immediately, and worker processes (--workers) are replaced one by one.',
      'Credentials for external services: OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME.',
    ),
  ].join('\n');
}
