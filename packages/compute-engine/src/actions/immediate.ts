import type { ActionRules } from './runner/action.js';
import { BOOTED_STATES } from './states.js';

/**
 * Preconditions of the actions that complete within the request and need no job. The engine's services execute these
 * actions directly.
 */
export const immediateActions = [
  {
    name: 'lock',
    taskStates: 'any',
    lock: false,
    neverLaunched: true,
    history: 'lock',
    notifies: { accepted: 'lock' },
  },
  {
    name: 'unlock',
    taskStates: 'any',
    lock: false,
    neverLaunched: true,
    history: 'unlock',
    notifies: { accepted: 'unlock' },
  },
  { name: 'addFixedIp', lock: true, history: undefined, notifies: null, nameInMessages: 'add_fixed_ip' },
  { name: 'removeFixedIp', lock: true, history: undefined, notifies: null, nameInMessages: 'remove_fixed_ip' },
  {
    name: 'console',
    taskStates: 'any',
    excludedTaskStates: ['deleting', 'migrating'],
    lock: false,
    history: undefined,
    notifies: null,
    nameInMessages: 'get_console',
  },
  {
    name: 'os-getConsoleOutput',
    taskStates: 'any',
    lock: false,
    neverLaunched: true,
    history: undefined,
    notifies: null,
  },
  {
    name: 'metadata',
    vmStates: BOOTED_STATES,
    taskStates: 'any',
    lock: true,
    history: undefined,
    notifies: null,
    nameInMessages: 'update metadata',
  },
  {
    name: 'tags',
    vmStates: BOOTED_STATES,
    taskStates: 'any',
    lock: false,
    neverLaunched: true,
    history: undefined,
    notifies: null,
    nameInMessages: 'update tags',
  },
  { name: 'update', taskStates: 'any', lock: false, neverLaunched: true, history: undefined, notifies: null },
] as const satisfies readonly ActionRules[];
