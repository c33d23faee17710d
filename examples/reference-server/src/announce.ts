import type { Options } from './options.js';
import { nextSteps } from './welcome.js';

/** What a user needs to know after the start. */
export interface Announced {
  readonly url: string;
  readonly database: string;
  readonly metricsUrl?: string | undefined;
}

/** Prints the address of the API, its documentation and a first command, in at most six lines. */
export function announce({ url, database, metricsUrl }: Announced, options: Options): void {
  console.log(
    [
      `Compute API ${url}/v2.1 (database ${database})`,
      ...(options['no-docs'] ? [] : [`Docs        ${url}/docs`]),
      ...(metricsUrl ? [`Metrics     ${metricsUrl}`] : []),
      `Try         ${nextSteps(url, options)[0]}`,
      'Press Ctrl-C to stop. --help lists the options.',
    ].join('\n'),
  );
}
