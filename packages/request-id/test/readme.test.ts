import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import * as requestIdPackage from '@apistrata/request-id';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { wrongOptionRows } from '../../../testing/option-tables.js';
import { sendRequest } from '../../../testing/send-request.js';
import { PRESETS } from '../src/presets.js';
import { OPTION_NAMES } from '../src/settings.js';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const readme = read('../README.md');

/** Runs the CommonJS example with the sources instead of the installed package. */
function requireExample() {
  const modules: Readonly<Record<string, unknown>> = { '@apistrata/request-id': requestIdPackage, express };
  const module = { exports: {} as { app: RequestListener; server: { close(): void } } };
  new Function('require', 'module', read('readme.example.cjs'))((name: string) => modules[name], module);
  return module.exports;
}

describe('the first examples of the README', () => {
  it('are identical to the code of this test', () => {
    expect(readme).toContain(`\`\`\`ts\n${read('readme.example.ts')}\`\`\``);
    expect(readme).toContain(`\`\`\`js\n${read('readme.example.cjs')}\`\`\``);
  });

  it('respond as the README shows, as a module and in CommonJS', async () => {
    process.env.PORT = '0';
    for (const { app, server } of [await import('./readme.example.js'), requireExample()]) {
      server.close();
      const { body, headers } = await sendRequest(app, { headers: { 'X-Request-Id': 'order-4711' } });
      expect(headers['x-request-id']).toBe('order-4711');
      expect(readme).toContain(`X-Request-Id: order-4711\n\n${body}\n`);
    }
  });
});

it('the README has a row for every option and every preset', () => {
  const names = [...OPTION_NAMES, ...Object.keys(PRESETS)];
  expect(names.filter((name) => !readme.includes(`| \`${name}\``))).toEqual([]);
});

it.each([['settings.ts', 'RequestIdOptions']])(
  'the README has the type and default of each option in %s: %s',
  (file, name) => {
    expect(wrongOptionRows(readme, read(`../src/${file}`), name)).toEqual([]);
  },
);
