import { describe, expect, it } from 'vitest';
import type { CheckReport } from '../src/check.js';
import type { ServerReport } from '../src/detailed/server-report.js';
import { acceptedType } from '../src/formats/accept.js';
import { htmlBody } from '../src/formats/html.js';
import { jsonBody } from '../src/formats/json.js';
import { PAGE_STYLE } from '../src/formats/page-style.js';
import { plainBody } from '../src/formats/plain.js';

const TEXT = 'text/plain';
const HTML = 'text/html';
const JSON_ = 'application/json';

describe('the choice of the format', () => {
  it.each([
    [undefined, TEXT],
    ['', TEXT],
    ['*/*', TEXT],
    ['text/*', TEXT],
    ['application/*', JSON_],
    ['application/json', JSON_],
    ['APPLICATION/Json', JSON_],
    ['text/html', HTML],
    // The server's order decides ties, regardless of the client's order and specificity.
    ['application/json, text/html', HTML],
    ['application/json, text/plain', TEXT],
    ['application/json, */*', TEXT],
    ['application/json,text/*', TEXT],
    ['text/html;q=0.8, application/json;q=0.9', JSON_],
    ['*/*;q=0.5, text/html', HTML],
    ['text/html;Q=0.2,application/json;q=0.10', HTML],
    ['text/html;q=1.000, text/plain;q=0.999', HTML],
    // If no format is acceptable, the response is plain text.
    ['image/png', TEXT],
    ['application/json;q=0', TEXT],
    ['text/html;q=0.0, text/plain;q=0', TEXT],
    // Quality 0 excludes a type that a wildcard would allow.
    ['*/*, text/plain;q=0', HTML],
    ['*/*, text/plain;q=0, text/html;q=0', JSON_],
    ['text/*;q=0, */*', JSON_],
    // A range with parameters denotes a different type.
    ['application/json; charset=utf-8', TEXT],
    ['text/html;level=1', TEXT],
    ['text/html;level=1, application/json;q=0.1', JSON_],
    ['text/html;level="a,b;q=0", application/json;q=0.1', JSON_],
    // The quality is followed by extensions, which are independent of the type.
    ['application/json;q=0.5;ext;other=1', JSON_],
    // A malformed part makes the whole header ineffective.
    ['json', TEXT],
    ['html, application/json', TEXT],
    ['application/json;q=1.1', TEXT],
    ['application/json;q=1.0001', TEXT],
    ['application/json;q=high', TEXT],
    ['application/json;q=', TEXT],
    ['application/json;q=-1', TEXT],
    ['application/json, text/html;q=2', TEXT],
    ['application/json, text', TEXT],
    ['application/ json', TEXT],
    ['application/json;', TEXT],
    ['application/json text/html', TEXT],
    ['application/json;level', TEXT],
    ['application/json;level="open', TEXT],
    // Spaces, tabs and empty items are part of the grammar.
    [' application/json ', JSON_],
    [', ,application/json\t,', JSON_],
    ['application/json ; q=0.7 , text/html ; q=0.2', JSON_],
  ])('for Accept %j is %s', (accept, type) => {
    expect(acceptedType(accept)).toBe(type);
  });

  it('takes linear time for a hostile header', () => {
    const hostile = [`text/html${' '.repeat(200_000)}x`, `${', '.repeat(100_000)}x`, `a/b;${'c="\\"'.repeat(50_000)}`];
    expect(hostile.map((accept) => acceptedType(accept))).toEqual([TEXT, TEXT, TEXT]);
  });
});

const changedAt = new Date('2026-01-30T08:00:00.000Z');
const reports: readonly CheckReport[] = [
  {
    name: 'a',
    state: 'available',
    available: true,
    reason: 'OK',
    details: "Path '/a & b' was not found",
    durationMs: 0.04,
    changedAt,
  },
  {
    name: 'b',
    state: 'unavailable',
    available: false,
    reason: '<b>"é\u{1f600}\u007f',
    details: '',
    durationMs: 1234.56,
    changedAt,
  },
];

const server: ServerReport = {
  hostname: 'host<1>',
  now: '2026-01-31 12:34:56.789000',
  platform: 'Linux-6.1-x64',
  runtimeVersion: 'Node.js v20.19.0 (V8 11.3)',
  uptimeSeconds: 93_784,
  gc: { counts: [7, 2, 1], threshold: [4_294_967_296, 2048, 100] },
  greenthreads: ['Timeout\n    at a <b>'],
  threads: ['[main]\n    at x', "[worker 1]\n    at 'y'"],
};
const named = { name: 'orders', version: '1.4.2' };

describe('JSON bodies', () => {
  it('have an indentation of four spaces, sorted keys and only ASCII characters', () => {
    expect(jsonBody(reports, {})).toBe(
      '{\n    "detailed": false,\n    "reasons": [\n        "OK",\n        "<b>\\"\\u00e9\\ud83d\\ude00\\u007f"\n    ]\n}',
    );
  });

  it('contain the documented keys when detailed', () => {
    expect(jsonBody(reports.slice(0, 1), { server })).toBe(
      [
        '{',
        '    "detailed": true,',
        '    "gc": {',
        '        "counts": [',
        '            7,',
        '            2,',
        '            1',
        '        ],',
        '        "threshold": [',
        '            4294967296,',
        '            2048,',
        '            100',
        '        ]',
        '    },',
        '    "greenthreads": [',
        '        "Timeout\\n    at a <b>"',
        '    ],',
        '    "now": "2026-01-31 12:34:56.789000",',
        '    "platform": "Linux-6.1-x64",',
        '    "python_version": "Node.js v20.19.0 (V8 11.3)",',
        '    "reasons": [',
        '        {',
        '            "class": "HealthcheckResult",',
        '            "details": "Path \'/a & b\' was not found",',
        '            "reason": "OK"',
        '        }',
        '    ],',
        '    "threads": [',
        '        "[main]\\n    at x",',
        '        "[worker 1]\\n    at \'y\'"',
        '    ]',
        '}',
      ].join('\n'),
    );
  });

  it('contain the names of the checks if configured', () => {
    expect(JSON.parse(jsonBody(reports, { named }))).toEqual({
      detailed: false,
      names: ['a', 'b'],
      reasons: reports.map(({ reason }) => reason),
    });
  });

  it('add durations, changes, the runtime and the service to detailed names, in sorted order', () => {
    const text = jsonBody(reports, { server, named });
    const body = JSON.parse(text);
    const keys = ['detailed', 'gc', 'greenthreads', 'now', 'platform', 'python_version', 'reasons'];
    expect(Object.keys(body)).toEqual([...keys, 'runtime_version', 'service', 'threads', 'uptime']);
    expect([body.runtime_version, body.service, body.uptime]).toEqual([server.runtimeVersion, named, 93_784]);
    expect(Object.entries(body.reasons[1])).toEqual([
      ['class', 'HealthcheckResult'],
      ['details', ''],
      ['duration_ms', 1234.6],
      ['last_change', '2026-01-30T08:00:00.000Z'],
      ['name', 'b'],
      ['reason', reports[1]!.reason],
    ]);
  });
});

describe('plain bodies', () => {
  it('are the reasons, with the names of their checks if configured', () => {
    const ok = reports.slice(0, 1);
    expect([plainBody(ok, {}), plainBody(ok, { server }), plainBody(ok, { named })]).toEqual(['OK', 'OK', 'a: OK']);
  });
});

const DETAILED_PAGE = `<HTML>
<HEAD><TITLE>Healthcheck Status</TITLE>
<META charset="UTF-8"><META name="viewport" content="width=device-width, initial-scale=1">
${PAGE_STYLE}</HEAD>
<BODY class="unavailable">
<HEADER>Unhealthy<SMALL>1 unavailable, 1 available</SMALL><UL><LI class="unavailable">&lt;b&gt;&#34;é\u{1f600}\u007f</LI></UL></HEADER>

<H2>Result of 2 checks:</H2>
<TABLE bgcolor="#ffffff" border="1" class="results detailed">
<TBODY>
<TR>
<TH>
Kind
</TH>
<TH>
Reason
</TH>
<TH>
Details
</TH>

</TR>
<TR class="available">
<TD>HealthcheckResult</TD>
    <TD>OK</TD>
<TD>Path &#39;/a &amp; b&#39; was not found</TD>
</TR><TR class="unavailable">
<TD>HealthcheckResult</TD>
    <TD>&lt;b&gt;&#34;é\u{1f600}\u007f</TD>
<TD></TD>
</TR>
</TBODY>
</TABLE>
<HR></HR>
<H1>Server status</H1>
<B>Host:</B><PRE>host&lt;1&gt;</PRE>
<B>Current time:</B><PRE>2026-01-31 12:34:56 UTC</PRE>
<B>Runtime:</B><PRE>Node.js v20.19.0 (V8 11.3)</PRE>
<B>Platform:</B><PRE>Linux-6.1-x64</PRE>
<HR></HR>
<H2>Garbage collector:</H2>
<B>Garbage collections since monitoring started:</B><PRE>7 minor, 2 major, 1 incremental</PRE>
<B>Heap:</B><PRE>100 bytes allocated, 2.0 KiB available, limit 4.0 GiB</PRE>
<HR></HR>
<H2>Pending operations (1):</H2>
<TABLE bgcolor="#ffffff" border="1" class="stacks">
<TBODY>
<TR>
    <TD><PRE>Timeout
    at a &lt;b&gt;</PRE></TD>
</TR>
</TBODY>
</TABLE>
<HR></HR>
<H2>Threads (2):</H2>
<TABLE bgcolor="#ffffff" border="1" class="stacks">
<TBODY>
<TR>
    <TD><PRE>[main]
    at x</PRE></TD>
</TR><TR>
    <TD><PRE>[worker 1]
    at &#39;y&#39;</PRE></TD>
</TR>
</TBODY>
</TABLE>
</BODY>
</HTML>`;

describe('HTML bodies', () => {
  it('equal this page when detailed', () => {
    expect(htmlBody(reports, { server })).toBe(DETAILED_PAGE);
  });

  it('omit an unknown host name, and empty tables', () => {
    const page = htmlBody(reports, { server: { ...server, hostname: '', greenthreads: [], threads: [] } });
    expect(page).not.toContain('<B>Host');
    expect(page).not.toMatch(/Pending operations|Threads/);
    expect(page.endsWith('<HR></HR>\n\n\n</BODY>\n</HTML>')).toBe(true);
  });

  it('show names, durations, changes, uptime and the service if configured', () => {
    const page = htmlBody(reports, { server, named });
    const titles = [...page.matchAll(/<TH>\n(.*)\n<\/TH>/g)].map(([, title]) => title);
    expect(titles).toEqual(['Name', 'Kind', 'Reason', 'Details', 'Duration', 'Last change']);
    expect(page).toContain('<TD>1234.6 ms</TD>\n<TD>2026-01-30 08:00:00 UTC</TD>\n</TR>');
    expect(page).toContain('<B>Service:</B><PRE>orders 1.4.2</PRE>');
    expect(page).toContain('<B>Uptime:</B><PRE>1 d 2 h</PRE>');
    expect(htmlBody(reports, { named })).toContain('<TH>\nName\n</TH>\n<TH>\nReason\n</TH>\n\n</TR>');
  });
});
