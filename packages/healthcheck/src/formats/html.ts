import { byteCount } from '../byte-count.js';
import { type CheckReport, type CheckState, worstOf } from '../check.js';
import type { ServerReport } from '../detailed/server-report.js';
import { RESULT_CLASS } from './json.js';
import { PAGE_STYLE } from './page-style.js';

const table = (kind: string) => `<TABLE bgcolor="#ffffff" border="1" class="${kind}">\n<TBODY>\n`;
const TABLE_END = '\n</TBODY>\n</TABLE>';

const HEAD = [
  '<HEAD><TITLE>Healthcheck Status</TITLE>',
  '<META charset="UTF-8"><META name="viewport" content="width=device-width, initial-scale=1">',
  `${PAGE_STYLE}</HEAD>`,
].join('\n');

const VERDICTS: Readonly<Record<CheckState, string>> = {
  available: 'Healthy',
  degraded: 'Degraded',
  unavailable: 'Unhealthy',
};

/**
 * The page for people. Scripts read it too: its elements stand in the order they always had, with a verdict before them.
 *
 * @param server given where the endpoint is detailed
 */
export function htmlBody(reports: readonly CheckReport[], server?: ServerReport): string {
  const columns = server ? ['Name', 'Kind', 'Reason', 'Details'] : ['Name', 'Reason'];
  const kind = server ? 'results detailed' : 'results';
  return [
    `<HTML>\n${HEAD}\n<BODY class="${worstOf(reports)}">\n${verdict(reports)}\n`,
    server ? serverStatus(server) : '',
    `\n<H2>Result of ${reports.length} checks:</H2>\n${table(kind)}<TR>\n`,
    columns.map(headerCell).join('\n'),
    '\n</TR>\n',
    reports.map(server ? detailedRow : row).join(''),
    `${TABLE_END}\n<HR></HR>\n`,
    server ? stackTables(server) : '',
    '\n</BODY>\n</HTML>',
  ].join('');
}

function verdict(reports: readonly CheckReport[]): string {
  const count = (state: CheckState) => reports.filter((report) => report.state === state).length;
  const parts = (['unavailable', 'degraded', 'available'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  const summary = parts.length > 0 ? parts.join(', ') : 'nothing to check';
  return `<HEADER>${VERDICTS[worstOf(reports)]}<SMALL>${summary}</SMALL></HEADER>`;
}

function serverStatus({ hostname, now, runtimeVersion, platform, gc }: ServerReport): string {
  const [limit, left, taken] = gc.threshold.map(byteCount);
  return [
    '<H1>Server status</H1>',
    hostname ? labelled('Server hostname:', hostname) : '',
    labelled('Current time:', now, 'UTC'),
    labelled('Python version:', runtimeVersion),
    labelled('Platform:', platform),
    '<HR></HR>',
    '<H2>Garbage collector:</H2>',
    labelled('Counts:', `(${gc.counts.join(', ')})`, 'collections: minor, major, incremental'),
    labelled('Thresholds:', `(${gc.threshold.join(', ')})`, `${limit} heap at most, ${left} left, ${taken} taken`),
    '<HR></HR>',
  ].join('\n');
}

function labelled(label: string, value: string, unit?: string): string {
  return `<B>${label}</B><PRE>${escapeHtml(value)}</PRE>${unit ? `<SMALL>${unit}</SMALL>` : ''}`;
}

function headerCell(text: string): string {
  return `<TH>\n${text}\n</TH>`;
}

function row({ name, state, reason }: CheckReport): string {
  return `<TR class="${state}">\n\n    <TD>${escapeHtml(name)}</TD>\n    <TD>${escapeHtml(reason)}</TD>\n\n</TR>`;
}

function detailedRow({ name, state, reason, details }: CheckReport): string {
  const [first, second, third] = [name, reason, details].map(escapeHtml);
  return `<TR class="${state}">\n<TD>${first}</TD>\n<TD>${RESULT_CLASS}</TD>\n    <TD>${second}</TD>\n<TD>${third}</TD>\n</TR>`;
}

/** A table without entries is left out. */
function stackTables({ greenthreads, threads }: ServerReport): string {
  const pending = greenthreads.length > 0 ? `${stackTable('greenthread', greenthreads)}\n<HR></HR>` : '';
  return `${pending}\n${threads.length > 0 ? stackTable('thread', threads) : ''}`;
}

function stackTable(what: string, stacks: readonly string[]): string {
  const rows = stacks.map((stack) => `<TR>\n    <TD><PRE>${escapeHtml(stack)}</PRE></TD>\n</TR>`);
  return `<H2>${stacks.length} ${what}(s) active:</H2>\n${table('stacks')}${rows.join('')}${TABLE_END}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>'"]/g, (character) => ENTITIES[character] ?? character);
}
