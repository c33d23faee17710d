import type { AdminCredentials } from './cloud/cloud.js';
import { CLOUD_NAME } from './cloud/cloud-name.js';
import { formatOpenrc } from './cloud/openrc.js';
import { nextSteps } from './next-steps.js';
import type { Options } from './options.js';

/** The information that is printed after the start. */
export interface StartupMessage {
  readonly url: string;
  readonly database: string;
  readonly metricsUrl?: string | undefined;
  readonly firstAccess?: AdminCredentials | undefined;
}

/** Returns the credentials of the first administrator as text, which is shown once. */
function formatCredentials({ settings, file }: AdminCredentials): string {
  return [
    '',
    'Credentials of the user admin. The password is not shown again (--reset-admin-password sets a new one):',
    '',
    formatOpenrc(settings),
    '',
    ...(file === undefined
      ? []
      : [`To select this cloud in clients: export OS_CLIENT_CONFIG_FILE=${file} OS_CLOUD=${CLOUD_NAME}`, '']),
  ].join('\n');
}

/** Prints the address of the API, its documentation, a first command, and the credentials of a new cloud. */
export function printStartupMessage(message: StartupMessage, options: Options): void {
  const { url, database, metricsUrl, firstAccess: adminCredentials } = message;
  console.log(
    [
      `Compute API ${url}/v2.1 (database ${database})`,
      ...(options['no-docs'] ? [] : [`Docs        ${url}/docs`]),
      ...(metricsUrl ? [`Metrics     ${metricsUrl}`] : []),
      ...(options.cloud ? [`Identity    ${url}/identity/v3`] : []),
      ...(adminCredentials ? [formatCredentials(adminCredentials)] : []),
      `Try         ${nextSteps(url, options)[0]}`,
      'Press Ctrl-C to stop. --help lists the options.',
    ].join('\n'),
  );
}
