import { type CheckReport, type CheckState, worstState } from '../check.js';
import type { ServerReport } from '../detailed/server-report.js';
import type { PageLink, ResponseExtras, ServiceInfo } from '../extras.js';
import { formatBytes } from '../format-bytes.js';
import { RESULT_CLASS } from './json.js';
import { PAGE_STYLE } from './page-style.js';

const tableStart = (kind: string) => `<TABLE bgcolor="#ffffff" border="1" class="${kind}">\n<TBODY>\n`;
const TABLE_END = '\n</TBODY>\n</TABLE>';

const HEAD_HTML = [
  '<HEAD><TITLE>Healthcheck Status</TITLE>',
  '<META charset="UTF-8"><META name="viewport" content="width=device-width, initial-scale=1">',
  `${PAGE_STYLE}</HEAD>`,
].join('\n');

const STATE_LABELS: Readonly<Record<CheckState, string>> = {
  available: 'Healthy',
  degraded: 'Degraded',
  unavailable: 'Unhealthy',
};

/** A column of the results table: its title, and a function that returns the cell text for one check. */
type Column = readonly [title: string, cell: (report: CheckReport) => string];

const NAME_COLUMN: Column = ['Name', ({ name }) => name];
const REASON_COLUMN: Column = ['Reason', ({ reason }) => reason];
/** The columns of the documented format, in order. */
const DETAILED_COLUMNS: readonly Column[] = [
  ['Kind', () => RESULT_CLASS],
  REASON_COLUMN,
  ['Details', ({ details }) => details],
];
const TIME_COLUMNS: readonly Column[] = [
  ['Duration', ({ durationMs }) => `${durationMs.toFixed(1)} ms`],
  ['Last change', ({ changedAt }) => `${changedAt.toISOString().slice(0, 19).replace('T', ' ')} UTC`],
];

function columnsFor({ server, named }: ResponseExtras): readonly Column[] {
  const documentedColumns = server ? DETAILED_COLUMNS : [REASON_COLUMN];
  return named ? [NAME_COLUMN, ...documentedColumns, ...(server ? TIME_COLUMNS : [])] : documentedColumns;
}

/** Returns the HTML page: failures first, then all results, then the state of the process. */
export function htmlBody(reports: readonly CheckReport[], extras: ResponseExtras): string {
  const { server, named } = extras;
  const columns = columnsFor(extras);
  const kind = ['results', ...(server ? ['detailed'] : []), ...(named ? ['named'] : [])].join(' ');
  return [
    `<HTML>\n${HEAD_HTML}\n<BODY class="${worstState(reports)}">\n${navigation(extras.links)}${summaryHeader(reports)}\n`,
    `\n<H2>Result of ${reports.length} checks:</H2>\n${tableStart(kind)}`,
    headerRow(columns),
    reports.map((report) => tableRow(report, columns)).join(''),
    `${TABLE_END}\n<HR></HR>\n`,
    server ? `${serverStatus(server, named)}\n${stackTables(server)}` : '',
    '\n</BODY>\n</HTML>',
  ].join('');
}

function navigation(links: readonly PageLink[] = []): string {
  if (links.length === 0) return '';
  const anchors = links.map(({ href, text }) => `<A href="${escapeHtml(href)}">${escapeHtml(text)}</A>`);
  return `<NAV>${anchors.join('')}</NAV>\n`;
}

/**
 * Returns the page header: the worst state, the number of checks in each state, and the reasons of checks that are not
 * available.
 */
function summaryHeader(reports: readonly CheckReport[]): string {
  const count = (state: CheckState) => reports.filter((report) => report.state === state).length;
  const parts = (['unavailable', 'degraded', 'available'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  const summary = parts.length > 0 ? parts.join(', ') : 'nothing to check';
  const failingItems = (['unavailable', 'degraded'] as const).flatMap((state) =>
    reports
      .filter((report) => report.state === state)
      .map(({ reason }) => `<LI class="${state}">${escapeHtml(reason)}</LI>`),
  );
  const list = failingItems.length > 0 ? `<UL>${failingItems.join('')}</UL>` : '';
  return `<HEADER>${STATE_LABELS[worstState(reports)]}<SMALL>${summary}</SMALL>${list}</HEADER>`;
}

function serverStatus(server: ServerReport, named: ServiceInfo | undefined): string {
  const { hostname, now, runtimeVersion, platform, uptimeSeconds, gc } = server;
  const [minor, major, incremental] = gc.counts;
  const [limit, available, allocated] = gc.threshold.map(formatBytes);
  const service = [named?.name, named?.version].filter(Boolean).join(' ');
  return [
    '<H1>Server status</H1>',
    ...(service ? [labeledValue('Service', service)] : []),
    ...(hostname ? [labeledValue('Host', hostname)] : []),
    labeledValue('Current time', `${now.slice(0, 19)} UTC`),
    ...(named ? [labeledValue('Uptime', formatDuration(uptimeSeconds))] : []),
    labeledValue('Runtime', runtimeVersion),
    labeledValue('Platform', platform),
    '<HR></HR>',
    '<H2>Garbage collector:</H2>',
    labeledValue(
      'Garbage collections since monitoring started',
      `${minor} minor, ${major} major, ${incremental} incremental`,
    ),
    labeledValue('Heap', `${allocated} allocated, ${available} available, limit ${limit}`),
    '<HR></HR>',
  ].join('\n');
}

function formatDuration(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ] as const;
  const largestIndex = units.findIndex(([size]) => seconds >= size);
  const largestUnits = units.slice(largestIndex === -1 ? units.length - 1 : largestIndex).slice(0, 2);
  let remaining = seconds;
  return largestUnits
    .map(([size, unit]) => {
      const count = Math.floor(remaining / size);
      remaining -= count * size;
      return `${count} ${unit}`;
    })
    .join(' ');
}

function labeledValue(label: string, value: string): string {
  return `<B>${label}:</B><PRE>${escapeHtml(value)}</PRE>`;
}

/**
 * Returns the header row of the results table. Its whitespace matches the documented format, which clients may compare
 * as text.
 */
function headerRow(columns: readonly Column[]): string {
  const cells = columns.map(([title]) => `<TH>\n${title}\n</TH>`).join('\n');
  return columns.length === 1 ? `<TR>\n\n${cells}\n</TR>\n` : `<TR>\n${cells}\n\n</TR>\n`;
}

function tableRow(report: CheckReport, columns: readonly Column[]): string {
  const cells = columns.map((column) => {
    const cell = `<TD>${escapeHtml(column[1](report))}</TD>`;
    return column === REASON_COLUMN ? `    ${cell}` : cell;
  });
  const lineBreaks = columns.length === 1 ? '\n\n' : '\n';
  return `<TR class="${report.state}">${lineBreaks}${cells.join('\n')}${lineBreaks}</TR>`;
}

/** Returns the tables of pending operations and of thread stacks; empty tables are omitted. */
function stackTables({ greenthreads, threads }: ServerReport): string {
  const pendingTable = greenthreads.length > 0 ? `${stackTable('Pending operations', greenthreads)}\n<HR></HR>` : '';
  return `${pendingTable}\n${threads.length > 0 ? stackTable('Threads', threads) : ''}`;
}

function stackTable(title: string, stacks: readonly string[]): string {
  const rows = stacks.map((stack) => `<TR>\n    <TD><PRE>${escapeHtml(stack)}</PRE></TD>\n</TR>`);
  return `<H2>${title} (${stacks.length}):</H2>\n${tableStart('stacks')}${rows.join('')}${TABLE_END}`;
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
