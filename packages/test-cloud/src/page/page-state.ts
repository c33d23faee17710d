import { serializeRule } from '../control/rule-json.js';
import type { CloudAppOptions } from '../gateway/cloud-app-options.js';

/** Returns the state that the page cannot read from the compute API. */
export function pageState({ clock, unhandled, rules }: Pick<CloudAppOptions, 'clock' | 'unhandled' | 'rules'>) {
  return {
    now: new Date(clock.now()).toISOString(),
    frozen: clock.frozen,
    rules: rules.list().map(serializeRule),
    unhandled: unhandled.list(),
  };
}
