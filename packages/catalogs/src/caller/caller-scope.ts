import type { Caller } from './caller.js';

export function isAdmin(caller: Caller): boolean {
  return caller.isAdmin === true;
}

/** Whether something of that project is the caller's to see and to change. */
export function owns(caller: Caller, projectId: string | null): boolean {
  return projectId === caller.projectId || isAdmin(caller);
}
