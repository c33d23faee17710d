import { describe, expect, it } from 'vitest';
import { helpText } from '../src/help-text.js';
import { optionGroups, optionTable } from '../src/options.js';
import { runProgram, sendRequest, startProgram } from './program.js';

describe('the log', () => {
  it('is one readable line per request with --log-format pretty, and JSON without a terminal', async () => {
    const pretty = await startProgram(['--db', ':memory:', '--log-format', 'pretty']);
    await sendRequest(pretty.url, 'GET', '/v2.1/flavors');
    await pretty.printed(/\[\d\d:\d\d:\d\d\] INFO: GET \/v2\.1\/flavors 200 \d+ ms\n/);
    expect(pretty.output()).not.toContain('"statusCode"');
    expect(await pretty.end('SIGTERM')).toBe(0);
    const json = await startProgram(['--db', ':memory:']);
    await sendRequest(json.url, 'GET', '/v2.1/flavors');
    await json.printed(/^\{"level":30.*"url":"\/v2\.1\/flavors".*\}$/m);
    expect(await json.end('SIGTERM')).toBe(0);
  });
});

describe('the start', () => {
  it('prints at most six lines: address, documentation, a command to paste', async () => {
    const program = await startProgram(['--db', ':memory:', '--log-level', 'silent', '--metrics-port', '0']);
    await program.printed(/Ctrl-C/);
    const lines = program.output().trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(6);
    expect(lines.map((line) => line.split(/\s{2,}| http/)[0])).toEqual([
      'Compute API',
      'Docs',
      'Metrics',
      'Try',
      'Press Ctrl-C to stop. --help lists the options.',
    ]);
    expect(await program.end('SIGTERM')).toBe(0);
  });
});

describe('the help', () => {
  it('has every option once, grouped, in at most 100 characters per line, with separate columns', () => {
    const lines = helpText().split('\n');
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    const rows = lines.filter((line) => /^ {2}--/.test(line));
    expect(rows.map((row) => /--([\w-]+)/.exec(row)![1])).toEqual(Object.keys(optionTable));
    expect(rows.filter((row) => !/^ {2}--\S+( \S+)?($| {2,}\S)/.test(row))).toEqual([]);
    for (const title of Object.keys(optionGroups)) expect(lines).toContain(`${title}:`);
  });

  it.each([[['--help']], [['-h']], [['help']]])('is printed for %j', async (args) => {
    expect(await runProgram(args)).toEqual({ code: 0, output: `${helpText()}\n` });
  });

  it('is printed for commands too, as is the version', async () => {
    expect((await runProgram(['admin', 'help'])).output).toMatch(/^Usage: apistrata admin COMMAND/);
    expect((await runProgram(['host', '-h'])).output).toMatch(/^Usage: apistrata host/);
    expect((await runProgram(['--version'])).output).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
