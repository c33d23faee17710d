import { ruleJson } from '../control/rule-json.js';
import type { CloudAppOptions } from '../gateway/cloud-app-options.js';

/** Returns what the page shows of the test cloud itself; resources are read from the compute API. */
export function pageState({ clock, unhandled, rules }: Pick<CloudAppOptions, 'clock' | 'unhandled' | 'rules'>) {
  return {
    now: new Date(clock.now()).toISOString(),
    frozen: clock.frozen,
    rules: rules.list().map(ruleJson),
    unserved: unhandled.list(),
  };
}
