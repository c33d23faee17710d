import type { Options } from './options.js';
import { nextSteps } from './welcome.js';

/** What somebody who starts the program wants to know. */
export interface Announced {
  readonly url: string;
  readonly database: string;
  readonly metricsUrl?: string | undefined;
}

/** Says on the standard output where the API is. */
export function announce({ url, database, metricsUrl }: Announced, options: Options): void {
  console.log(
    [
      `Compute API ${url}/v2.1 (database ${database})`,
      ...(metricsUrl ? [`Metrics ${metricsUrl}`] : []),
      `Try: ${nextSteps(url, options)[0]}`,
      `Or open ${url}/ in a browser. --help lists the options; Ctrl-C ends.`,
    ].join('\n'),
  );
}
