import type { ActionRules } from './runner/action.js';
import { BOOTED_STATES } from './states.js';

/**
 * Preconditions of the actions that complete within the request and need no job. The engine's services execute these
 * actions directly.
 */
export const immediateActions = [
  { name: 'lock', task: 'any', lock: false, neverLaunched: true, history: 'lock', notifies: { accepted: 'lock' } },
  {
    name: 'unlock',
    task: 'any',
    lock: false,
    neverLaunched: true,
    history: 'unlock',
    notifies: { accepted: 'unlock' },
  },
  { name: 'addFixedIp', lock: true, history: undefined, notifies: null, word: 'add_fixed_ip' },
  { name: 'removeFixedIp', lock: true, history: undefined, notifies: null, word: 'remove_fixed_ip' },
  {
    name: 'console',
    task: 'any',
    notTask: ['deleting', 'migrating'],
    lock: false,
    history: undefined,
    notifies: null,
    word: 'get_console',
  },
  { name: 'os-getConsoleOutput', task: 'any', lock: false, neverLaunched: true, history: undefined, notifies: null },
  {
    name: 'metadata',
    vm: BOOTED_STATES,
    task: 'any',
    lock: true,
    history: undefined,
    notifies: null,
    word: 'update metadata',
  },
  {
    name: 'tags',
    vm: BOOTED_STATES,
    task: 'any',
    lock: false,
    neverLaunched: true,
    history: undefined,
    notifies: null,
    word: 'update tags',
  },
  { name: 'update', task: 'any', lock: false, neverLaunched: true, history: undefined, notifies: null },
] as const satisfies readonly ActionRules[];
