import { describe, expect, it } from 'vitest';
import { actions, rulesOf } from '../../src/actions/action-table.js';
import { immediateActions } from '../../src/actions/immediate.js';
import type { ActionRules, AnyAction } from '../../src/actions/runner/action.js';

const HEAD = `# Actions on servers

This page lists the preconditions, task states and results of all server actions. It is generated from the definitions in
\`packages/compute-engine/src/actions\`, one file for each action; \`npx vitest run packages/compute-engine/test/actions/page.test.ts -u\`
updates it.

![The states of a server, and the actions that change them](images/server-states.svg)

The chart shows the results of an engine that performed each action in each state: a dot marks the initial state, an arrow points to the
resulting state, and a ring means that the state does not change. If the server was stopped before it was resized, \`confirmResize\` and
\`revertResize\` end in \`stopped\`; \`delete\` ends in \`deleted\` unless deletion is deferred. With \`os-resetState\`, administrators can set the
state to \`active\` or \`error\` from any state.

- **vm_state**: the server states in which the action may start; *(including new)* adds servers that were never launched.
- **task_state**: the task states in which the action may start; default: none.
- **lock**: whether the action is rejected (409) if the server is locked and the caller is not an administrator.
- **needs**: the verb that the driver must support; otherwise, the response is 501 (400 for crash dumps).
- **tasks**: the values of \`task_state\` while the action runs, in order.
- **failure**: the server's \`vm_state\` after the action has failed. The failure is always stored as the server's fault.
- **history**: the name of the entry in the server's history.
`;

const code = (values: readonly (string | null)[]) =>
  values.map((value) => (value === null ? 'none' : `\`${value}\``)).join(', ');

function tasksOf({ taskStates, excludedTaskStates }: ActionRules): string {
  if (excludedTaskStates) return `any but ${code(excludedTaskStates)}`;
  return taskStates === 'any' ? 'any' : code(taskStates ?? [null]);
}

function row(rules: ActionRules, more: readonly string[] = []): string {
  const vmStates = rules.vmStates ? code(rules.vmStates) : 'any';
  const cells = [
    `\`${rules.name}\``,
    [vmStates, rules.neverLaunched && '(including new)', rules.rejectionWithShares && '(without shares)']
      .filter(Boolean)
      .join(' '),
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
    'Exclusive actions',
    [...common, 'needs', 'tasks', 'failure', 'history'],
    all.flatMap((record) =>
      record.concurrent ? [] : row(record, [needs(record), code(record.during) || '-', record.onFailure]),
    ),
  ),
  table(
    'Concurrent actions',
    [...common, 'needs', 'history'],
    all.flatMap((record) => (record.concurrent ? row(record, [needs(record)]) : [])),
  ),
  table(
    'Immediate actions without a job',
    [...common, 'history'],
    immediateActions.map(({ name }) => row(rulesOf(name))),
  ),
].join('');

describe('docs/actions.md', () => {
  it('shows every action as defined in its record', async () => {
    await expect(page).toMatchFileSnapshot('../../../../docs/actions.md');
  });
});
