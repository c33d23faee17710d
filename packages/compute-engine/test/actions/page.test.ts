import { describe, expect, it } from 'vitest';
import { actions, rulesOf } from '../../src/actions/action-table.js';
import { immediate } from '../../src/actions/immediate.js';
import type { ActionRules, AnyAction } from '../../src/actions/runner/action.js';

const HEAD = `# Actions on servers

What may be done to a server when, what is seen meanwhile, and how it ends: the records of
\`packages/compute-engine/src/actions\`, one file each, as a table. This page is generated from them;
\`npx vitest run packages/compute-engine/test/actions/page.test.ts -u\` writes it anew.

- **vm_state**: the states it may begin in; *any* includes servers that were never launched where *(new too)* is said.
- **task_state**: the tasks it may begin in the middle of; otherwise there must be none.
- **lock**: whether a lock of the server refuses it (409) to all but administrators.
- **needs**: work that the driver must be able to do; where it cannot, the answer is 501 (400 for crash dumps).
- **tasks**: what \`task_state\` shows, one after the other.
- **failure**: what becomes of the server when the work fails; it has a fault in either case.
- **history**: the name of the entry in the server's history.
`;

const code = (words: readonly (string | null)[]) =>
  words.map((word) => (word === null ? 'none' : `\`${word}\``)).join(', ');

function tasksOf({ task, notTask }: ActionRules): string {
  if (notTask) return `any but ${code(notTask)}`;
  return task === 'any' ? 'any' : code(task ?? [null]);
}

function row(rules: ActionRules, more: readonly string[] = []): string {
  const vm = rules.vm ? code(rules.vm) : 'any';
  const cells = [
    `\`${rules.name}\``,
    [vm, rules.neverLaunched && '(new too)', rules.notWithShares && '(without shares)'].filter(Boolean).join(' '),
    tasksOf(rules),
    rules.lock ? 'yes' : 'no',
    ...more,
    rules.history === undefined ? '-' : code([rules.history]),
  ];
  return `| ${cells.join(' | ')} |`;
}

function table(title: string, columns: readonly string[], rows: readonly string[]): string {
  return [`\n## ${title}\n`, `| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`, ...rows, ''].join(
    '\n',
  );
}

const needs = ({ needs }: ActionRules) => (needs ? code([needs]) : '-');
const common = ['action', 'vm_state', 'task_state', 'lock'];
const all: readonly AnyAction[] = actions;

const page = [
  HEAD,
  table(
    'With the server to themselves',
    [...common, 'needs', 'tasks', 'failure', 'history'],
    all.flatMap((record) =>
      record.concurrent ? [] : row(record, [needs(record), code(record.during) || '-', record.onFailure]),
    ),
  ),
  table(
    'Beside others',
    [...common, 'needs', 'history'],
    all.flatMap((record) => (record.concurrent ? row(record, [needs(record)]) : [])),
  ),
  table(
    'At once, without work in the background',
    [...common, 'history'],
    immediate.map(({ name }) => row(rulesOf(name))),
  ),
].join('');

describe('docs/actions.md', () => {
  it('shows every action as its record has it', async () => {
    await expect(page).toMatchFileSnapshot('../../../../docs/actions.md');
  });
});
