import type { Options } from './options.js';

/** How callers authenticate: the value of `--auth`, or `cloud` if they are users of the `--cloud` identity service. */
export type CallerKind = Options['auth'] | 'cloud';

/** Returns how callers authenticate, as determined by `--auth` and `--cloud`. */
export function callerKindOf({ auth, cloud }: Pick<Options, 'auth' | 'cloud'>): CallerKind {
  return cloud ? 'cloud' : auth;
}

/** Explains to API users how to authenticate. Code is between backticks. */
export const AUTHENTICATION_HELP: Readonly<Record<CallerKind, string>> = {
  noauth:
    'The server does not check tokens: a token `USER:PROJECT[:ROLE,ROLE]` identifies the caller. The user `admin` is an administrator.',
  tokens: 'Use a token from the file that this server was started with.',
  identity: 'Log in to the identity service that this server was started with, and use the token that it issues.',
  cloud: 'Log in to the identity service of this server, and use the token that it issues.',
};
