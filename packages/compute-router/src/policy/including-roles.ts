/** For each role of a project, the roles that include it: admin > manager > member > reader. */
export const INCLUDING_ROLES = {
  reader: ['reader', 'member', 'manager', 'admin'],
  member: ['member', 'manager', 'admin'],
  manager: ['manager', 'admin'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
