import type { Options } from './options.js';

/** How callers authenticate: as `--auth` selects, or as users of `--cloud`. */
export type CallerKind = Options['auth'] | 'cloud';

/** Returns how callers authenticate. */
export function callerKind({ auth, cloud }: Pick<Options, 'auth' | 'cloud'>): CallerKind {
  return cloud ? 'cloud' : auth;
}

/** How callers authenticate, with code between backticks. */
export const CALLERS: Readonly<Record<CallerKind, string>> = {
  noauth:
    'The server does not check tokens: `USER:PROJECT[:ROLE,ROLE]` is the caller. The user `admin` is an administrator.',
  tokens: 'Use a token of the file that this server was started with.',
  identity: 'Log in at the identity service that this server was started with, and use the token that it issues.',
  cloud: 'Log in at the identity service of this server, and use the token that it issues.',
};
