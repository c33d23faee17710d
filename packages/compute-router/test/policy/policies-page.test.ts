import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BASE_RULES } from '../../src/policy/base-rules.js';
import { RULES } from '../../src/policy/rules.js';

interface Check {
  readonly rule: string;
  readonly optional?: boolean;
  readonly when?: string;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly action?: string;
  readonly policy: readonly Check[];
}

const root = join(import.meta.dirname, '../../../..');
const page = join(root, 'docs/policies.md');
const { operations } = JSON.parse(readFileSync(join(root, 'reference/operations.json'), 'utf8')) as {
  readonly operations: readonly Operation[];
};

const cell = (text: string) => text.replaceAll('|', '\\|');
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

function usesOf(rule: string): string {
  const uses = operations.flatMap(({ method, path, action, policy }) =>
    policy
      .filter((check) => check.rule === rule)
      .map(({ when }) => `\`${method} ${path}\`${action ? ` \`${action}\`` : ''}${when ? `: ${cell(when)}` : ''}`),
  );
  return [...new Set(uses)].join('<br>');
}

/** Returns what callers see if a rule denies access: most rules reject the request, some only omit fields. */
function deniedOf(rule: string): string {
  const checks = operations.flatMap(({ policy }) => policy.filter((check) => check.rule === rule));
  return checks.every(({ optional, when }) => optional && !when?.includes('403')) ? 'less' : '403';
}

const generated: Readonly<Record<string, string>> = {
  bases: table(
    ['Base rule', 'Expression'],
    Object.entries(BASE_RULES).map(([name, expression]) => [`\`${name}\``, `\`${expression}\``]),
  ),
  rules: table(
    ['Rule', 'Default', 'Denied', 'Checked by'],
    Object.entries(RULES).map(([name, byDefault]) => [`\`${name}\``, `\`${byDefault}\``, deniedOf(name), usesOf(name)]),
  ),
};

describe('docs/policies.md', () => {
  it('has the current tables of rules and base rules (vitest --update rewrites them)', async () => {
    const found: string[] = [];
    const text = readFileSync(page, 'utf8').replace(
      /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
      (_, before: string, name: string, after: string) => {
        found.push(name);
        return `${before}\n${generated[name]}\n\n${after}`;
      },
    );
    expect(found.sort()).toEqual(Object.keys(generated).sort());
    await expect(text).toMatchFileSnapshot(page);
  });

  it('names every operation that checks a rule', () => {
    const missing = operations
      .filter(({ policy }) => policy.length > 0)
      .map(({ method, path, action }) => `\`${method} ${path}\`${action ? ` \`${action}\`` : ''}`)
      .filter((use) => !generated.rules?.includes(use));
    expect(missing).toEqual([]);
  });
});
