import type { CheckReport } from '../check.js';
import type { ServerReport } from '../detailed/server-report.js';
import { RESULT_CLASS } from './json.js';

const TABLE = '<TABLE bgcolor="#ffffff" border="1">\n<TBODY>\n';
const TABLE_END = '\n</TBODY>\n</TABLE>';

/**
 * The page for people. Its white space is part of the contract: scripts compare this page byte for byte.
 *
 * @param server given where the endpoint is detailed
 */
export function htmlBody(reports: readonly CheckReport[], server?: ServerReport): string {
  return [
    '<HTML>\n<HEAD><TITLE>Healthcheck Status</TITLE></HEAD>\n<BODY>\n',
    server ? serverStatus(server) : '',
    `\n<H2>Result of ${reports.length} checks:</H2>\n${TABLE}<TR>\n`,
    server ? `${['Kind', 'Reason', 'Details'].map(headerCell).join('\n')}\n` : `\n${headerCell('Reason')}`,
    '\n</TR>\n',
    reports.map(server ? detailedRow : row).join(''),
    `${TABLE_END}\n<HR></HR>\n`,
    server ? stackTables(server) : '',
    '\n</BODY>\n</HTML>',
  ].join('');
}

function serverStatus({ hostname, now, runtimeVersion, platform, gc }: ServerReport): string {
  return [
    '<H1>Server status</H1>',
    hostname ? labelled('Server hostname:', hostname) : '',
    labelled('Current time:', now),
    labelled('Python version:', runtimeVersion),
    labelled('Platform:', platform),
    '<HR></HR>',
    '<H2>Garbage collector:</H2>',
    labelled('Counts:', `(${gc.counts.join(', ')})`),
    labelled('Thresholds:', `(${gc.threshold.join(', ')})`),
    '<HR></HR>',
  ].join('\n');
}

function labelled(label: string, value: string): string {
  return `<B>${label}</B><PRE>${escapeHtml(value)}</PRE>`;
}

function headerCell(text: string): string {
  return `<TH>\n${text}\n</TH>`;
}

function row({ reason }: CheckReport): string {
  return `<TR>\n\n    <TD>${escapeHtml(reason)}</TD>\n\n</TR>`;
}

function detailedRow({ reason, details }: CheckReport): string {
  return `<TR>\n<TD>${RESULT_CLASS}</TD>\n    <TD>${escapeHtml(reason)}</TD>\n<TD>${escapeHtml(details)}</TD>\n</TR>`;
}

/** A table without entries is left out. */
function stackTables({ greenthreads, threads }: ServerReport): string {
  const pending = greenthreads.length > 0 ? `${stackTable('greenthread', greenthreads)}\n<HR></HR>` : '';
  return `${pending}\n${threads.length > 0 ? stackTable('thread', threads) : ''}`;
}

function stackTable(what: string, stacks: readonly string[]): string {
  const rows = stacks.map((stack) => `<TR>\n    <TD><PRE>${escapeHtml(stack)}</PRE></TD>\n</TR>`);
  return `<H2>${stacks.length} ${what}(s) active:</H2>\n${TABLE}${rows.join('')}${TABLE_END}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>'"]/g, (character) => ENTITIES[character]!);
}
